"""Checks gaps: `python gap_checker.py FILE` exits with 0: verified, 1: wrong, 2: unreadable.

It needs only Python; names are not checked.  The statement: on every sequence of at most `length`
symbols (`letters` of them; length ≥ 2) after one BOS token, a transformer of hardmax heads outputs
hop_k (k = `hops`) at every position; symbols and logits are 0, 1, …, then BOS and ⊥.

    hop_k(x)_i = x_{find^k(i)},    find(i) = max{ j ≤ i : x_{j−1} = x_i },    ⊥ if there is none.

The program is one in which every layer attends to one token: to a position; or to the last token
with a given symbol, and to BOS (position 0, which stands for ⊥) if there is no such token.  `first`
names the program:

    before   attends to the previous position and copies its symbol; then to the last token whose
             previous symbol equals the symbol of token i, find(i), and copies its symbol (k = 1)
    behind   attends to the last earlier token with the symbol of token i, find(i) − 1, and copies
             the next position; then, for m = 0, 1, …, attends to position find^{2^m}(i), and copies
             the position stored there, find^{2^{m+1}}(i), and, if bit m of k is set, the answer
             stored there, so that the answer stored at i is hop_{k mod 2^{m+1}}(i)

No sequence is run.  After each layer, all pairs of labels and contents that a token may have are
enumerated.  Three comparisons are made for all their queries and keys.  Of two tokens that match
the query, the later must have the larger score.  A matching token must have a larger score than
BOS.  BOS must have a larger score than all tokens that do not match.  The smallest difference is
the layer's gap.  So the head attends as the program does, and its output is added.  At the end, the
largest logit of every content must be the answer of its label.
"""

import json
import re
import signal
import sys
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise, product
from os.path import isfile
from typing import Any, NamedTuple

FIELDS = """@ first hops kind length letters model name; @model b_unembed blocks embed positions
unembed; @blocks: heads mlp; @heads: K O Q V b_K b_Q mask rule; @mlp: b_in b_out in out"""
WORDS = r"""(?x)name=".{0,999}"|kind="lookups"|first="(before|behind)"|rule="hardmax"
|(length|letters|hops)=[1-9][0-9]{0,3}|mask="(strictly\ )?causal"
|(blocks|heads|mlp|b_\w+|(embed|positions|unembed|[QKVO]|in|out):?)=\[\]
|(|model|(blocks|heads|mlp):)=\{\}|(b_\w+:|(embed|positions|unembed|[QKVO]|in|out)::)=
(?P<number>"-?[0-9]{1,400}(/[1-9][0-9]{0,399})?")"""  # an entry of a list has a colon
MOST_BYTES, MOST_WORK = 2**25, 2**27  # of a file, and multiplications for a statement
CHECKERS = {"certificates": "checker", "gaps": "gap_checker"}  # by the field that they read
CHECKERS |= {"formulas": "formula_checker", "programs": "program_checker"}
SENTENCE = """on all sequences of up to {length} tokens of {letters} symbols, the outputs are \
hop_{hops} (named {name!a})"""
Matrix = list[list[Any]]
Look = tuple[str, str, str, dict[str, str]]  # mask, query, key, what is copied


class Token(NamedTuple):
    """The labels that the program gives to a token; the number of symbols means "no symbol"."""

    place: int
    symbol: int
    before: int  # the symbol before it
    after: int  # the position after it
    at: int  # the position it attends to
    answer: int


def require(holds: bool, words: str) -> None:
    if not holds:
        raise ArithmeticError(words)


def program(first: str, hops: int) -> list[Look]:
    match = ("causal", "symbol", "before", {"answer": "symbol"})
    if first == "before" and hops == 1:
        return [("causal", "at", "place", {"before": "symbol"}), match]
    require(first == "behind", f"no program of {hops} hops is {first!r}")
    looks: list[Look] = [("strictly causal", "symbol", "symbol", {"at": "after"})]
    while hops:
        bit, hops = hops % 2, hops // 2
        takes = ["answer"] * bit + ["at"] * (hops > 0)
        looks.append(("causal", "at", "place", {label: label for label in takes}))
    return looks


def read(spec: Any, at: str = "") -> Any:
    """Returns the value of field `at` with numbers in place of texts; others raise an error."""
    text = json.dumps(type(spec)() if isinstance(spec, list | dict) else spec)
    ok, verb = re.fullmatch(WORDS, f"{at}={text}"), "contains" if at[-1:] == ":" else "is"
    require(bool(ok), f"{at.rstrip(':.') or 'the statement'} {verb} {spec!a:.300}")
    if isinstance(spec, dict):
        known = [sorted(fields.split()) for fields in FIELDS.split(";")]
        require(sorted([*spec, f"@{at}"]) in known, f"no part has the fields {[*spec]!a:.300}")
        return {k: read(v, k) for k, v in spec.items()}
    if isinstance(spec, list):
        return [read(v, f"{at}:") for v in spec]
    if not (ok and ok["number"]):
        return spec
    number, twos = Fraction(spec), Fraction(spec).denominator
    require(twos & (twos - 1) == 0, f"{spec} is not an integer over a power of two")
    return number if number % 1 else int(number)


class Exact:
    """Arithmetic of matrices (lists of rows) over ℚ."""

    work = 0  # the multiplications so far; those of long numbers count as several

    def dot(self, u: Any, v: Any) -> Any:
        total = sum(a * b for a, b in zip(u, v, strict=True) if a and b)
        bits = total.numerator.bit_length() + total.denominator.bit_length()
        self.spend(len(u) * (1 + bits // 256))
        require(bits < 2**11, "a number has too many digits")
        return total

    def spend(self, multiplications: int) -> None:
        self.work += 1 + multiplications
        require(self.work < MOST_WORK, "it takes too many multiplications")

    def mul(self, A: Any, *Bs: Any) -> Matrix:
        for B in Bs:
            columns = [*zip(*B, strict=True)]
            A = [[self.dot(row, column) for column in columns] for row in A]
        return list(A)

    def affine(self, H: Any, W: Any, b: Any) -> Matrix:
        return self.mul([[*row, 1] for row in H], [*W, b])


def add(*terms: Any) -> tuple[Any, ...]:
    return tuple(map(sum, zip(*terms, strict=True)))


def lookups(spec: Any) -> dict[str, Any]:
    n, V, hops = sizes = [spec[size] for size in ("length", "letters", "hops")]
    require(n > 1 and n * V <= 2**10 and hops < 2**10, f"its sizes are too small or large: {sizes}")
    R, model, looks = Exact(), spec["model"], program(spec["first"], hops)
    heads = [len(block["heads"]) for block in model["blocks"]]
    require(heads == [1 for _ in looks], f"heads by layer are {heads}, for {len(looks)} lookups")
    known = {  # with the contents of each token
        (token, add(model["embed"][token.symbol], model["positions"][token.place]))
        for token in (
            Token(0, V, V, 0, 0, V),
            *(Token(t, v, V, t + 1, t - 1, v) for t, v in product(range(1, n + 1), range(V))),
        )
    }
    gaps = list[str]()
    for block, look in zip(model["blocks"], looks, strict=True):
        gap, known = looked(R, known, block["heads"][0], *look)
        require(gap > 0, f"layer {len(gaps) + 1} may attend to another token")
        gaps.append(str(gap))
        for mlp in block["mlp"]:
            tokens, H = zip(*known, strict=True)
            hidden = [[max(x, 0) for x in row] for row in R.affine(H, mlp["in"], mlp["b_in"])]
            moved = R.affine(hidden, mlp["out"], mlp["b_out"])
            known = {*zip(tokens, map(add, H, moved), strict=True)}
    margins = set()
    for token, row in known:
        (logits,) = R.affine([row], model["unembed"], model["b_unembed"])
        if token.place:
            margins.add(logits.pop(token.answer) - max(logits))
    require(min(margins) > 0, "another answer may be given")
    return {"gaps": gaps, "margin": str(min(margins)), "contents": len(known)}


def end(mask: str, token: Token) -> int:
    """The first position that the token does not see; the first token always sees itself."""
    return token.place + 1 if mask == "causal" else max(token.place, 1)


def looked(R: Exact, known: Any, head: Any, mask: str, query: str, key: str, copied: Any) -> Any:
    """The smallest score gap of a head, and the possible tokens and contents after this head."""
    require((head["rule"], head["mask"]) == ("hardmax", mask), f"a head is not {mask} hardmax")
    tokens, H = zip(*sorted(known), strict=True)
    otherwise = key != "place"  # there may be no matching token: then the head attends to BOS
    queries, keys = R.affine(H, head["Q"], head["b_Q"]), R.affine(H, head["K"], head["b_K"])
    asking = {  # with the last such position, which sees what those before it see
        (getattr(token, query), tuple(q)): end(mask, token)
        for token, q in zip(tokens, queries, strict=True)
    }
    telling = {(getattr(s, key), s.place, tuple(k)) for s, k in zip(tokens, keys, strict=True)}
    R.spend(len(asking) * len(telling) * (1 + len(queries[0])))
    apart = set()
    for (wanted, q), seen in asking.items():
        scores: dict[int, list[Any]] = {}
        for found, j, k in telling:
            if j < seen:
                at = j if found == wanted or (otherwise and j == 0) else -1
                scores.setdefault(at, []).append(R.dot(q, k))
        apart |= {min(scores[b]) - max(scores[a]) for a, b in pairwise(sorted(scores))}

    brought: dict[Any, dict[Any, int]] = {}  # by key: labels and content, first position
    for token, row in zip(tokens, R.mul(H, head["V"], head["O"]), strict=True):
        gift = tuple((mine, getattr(token, theirs)) for mine, theirs in copied.items()), tuple(row)
        for found in (getattr(token, key), *[None][: otherwise and token.place == 0]):
            brought.setdefault(found, {}).setdefault(gift, token.place)
    most = len(known) * max(len(gifts) for gifts in brought.values()) * len(H[0])
    require(most <= 2**22, f"its contents are too many: {most}")
    after = {
        (token._replace(**dict(labels)), add(row, moved))
        for token, row in known
        for found in (getattr(token, query), None)
        for (labels, moved), place in brought.get(found, {}).items()
        if place < end(mask, token)
    }
    return min(apart, default=0), after


def computed(spec: Any) -> dict[str, Any]:
    """The evidence of a statement; raises ArithmeticError if it is wrong or has no meaning."""
    try:
        found, text = lookups(read(spec)), json.dumps(spec, sort_keys=True).encode()
    except (LookupError, TypeError, ValueError) as error:
        raise ArithmeticError(f"the statement is malformed: {error!a:.300}") from error
    return {**found, "sha256": sha256(text).hexdigest()}


def unique(fields: Any) -> dict[str, Any]:
    require(len(known := dict(fields)) == len(fields), "a field is given twice")
    return known


def verified(text: bytes) -> Iterator[str]:
    """A sentence for each statement of a file, once it is verified; its name is not checked."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"a file has at most {MOST_BYTES} bytes")
    file = json.loads(text, object_pairs_hook=unique)
    fields = [*file] if isinstance(file, dict) else []
    if "gaps" not in fields:
        others = [f"use {CHECKERS[each]}.py for its {each}" for each in fields if each in CHECKERS]
        raise ValueError("; ".join(["it has no field 'gaps'", *others]))
    require({*fields} <= {"claim", *CHECKERS}, f"of its fields {fields!a:.300} not all are known")
    require(isinstance(file["gaps"], list) and file["gaps"] != [], "it has no gaps")
    for one in file["gaps"]:
        spec, evidence = one["statement"], one["evidence"]
        require(len(one) == 2, f"besides statement and evidence, {[*one]!a:.300} has more")
        found = computed(spec)
        same = json.dumps(found, sort_keys=True) == json.dumps(evidence, sort_keys=True)
        require(same, f"the evidence is {evidence!a:.200}, not that of this statement, {found}")
        yield SENTENCE.format(**spec)


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # a closed pipe, as of `| head`, ends the command
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        try:
            if len(sys.argv) != 2 or not isfile(sys.argv[1]):  # a pipe would be waited for
                raise ValueError("give one existing regular file: python gap_checker.py FILE")
            with open(sys.argv[1], "rb") as file:
                for sentence in verified(file.read(MOST_BYTES + 1)):
                    print(f"verified: {sentence}", flush=True)
        except Exception as error:
            wrong, own = isinstance(error, ArithmeticError), isinstance(error, ValueError)
            what = str(error) if wrong or own else ascii(error)
            print(f"{'wrong' if wrong else 'cannot read gaps'}: {what:.500}", flush=True)
            sys.exit(1 if wrong else 2)
    except OSError as error:
        sys.stdout = sys.stderr  # at the end, Python would write to the other again
        print(f"cannot write the output: {error}")
        sys.exit(2)
