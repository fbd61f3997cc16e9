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
import sys
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise, product
from typing import Any, NamedTuple

STATEMENT = ["first", "hops", "kind", "length", "letters", "model", "name"]
FIELDS = [
    ["b_unembed", "blocks", "embed", "positions", "unembed"],
    ["heads", "mlp"],
    ["K", "O", "Q", "V", "b_K", "b_Q", "mask", "rule"],
    ["b_in", "b_out", "in", "out"],
]
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


def read(spec: Any, key: str = "") -> Any:
    """Returns the value at `key` with numbers in place of texts; unknown fields raise an error."""
    if isinstance(spec, dict):
        require(sorted(spec) in FIELDS, f"unknown fields {[*spec]}")
        return {k: v if k in ("mask", "rule") else read(v, k) for k, v in spec.items()}
    if isinstance(spec, list):
        return [read(v, key) for v in spec]
    require(isinstance(spec, str) and "." not in spec and "e" not in spec, f"{key} is {spec!r}")
    number = Fraction(spec)
    return number if number % 1 else int(number)


def dot(u: Any, v: Any) -> Any:
    return sum(a * b for a, b in zip(u, v, strict=True) if a and b)


def mul(A: Any, *Bs: Any) -> Matrix:
    for B in Bs:
        columns = [*zip(*B, strict=True)]
        A = [[dot(row, column) for column in columns] for row in A]
    return list(A)


def affine(H: Any, W: Any, b: Any) -> Matrix:
    return mul([[*row, 1] for row in H], [*W, b])


def add(*terms: Any) -> tuple[Any, ...]:
    return tuple(map(sum, zip(*terms, strict=True)))


def lookups(spec: Any) -> dict[str, Any]:
    n, V, hops = sizes = [spec[size] for size in ("length", "letters", "hops")]
    require(
        all(type(size) is int and size > 0 for size in sizes) and n > 1, f"its sizes are {sizes}"
    )
    require(n * V <= 2**10 and hops < 2**10, f"its sizes are too large: {sizes}")
    model, looks = read(spec["model"]), program(spec["first"], hops)
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
        gap, known = looked(known, block["heads"][0], *look)
        require(gap > 0, f"layer {len(gaps) + 1} may attend to another token")
        gaps.append(str(gap))
        for mlp in block["mlp"]:
            tokens, H = zip(*known, strict=True)
            hidden = [[max(x, 0) for x in row] for row in affine(H, mlp["in"], mlp["b_in"])]
            moved = affine(hidden, mlp["out"], mlp["b_out"])
            known = {*zip(tokens, map(add, H, moved), strict=True)}
    margins = set()
    for token, row in known:
        (logits,) = affine([row], model["unembed"], model["b_unembed"])
        if token.place:
            margins.add(logits.pop(token.answer) - max(logits))
    require(min(margins) > 0, "another answer may be given")
    return {"gaps": gaps, "margin": str(min(margins)), "contents": len(known)}


def end(mask: str, token: Token) -> int:
    """The first position that the token does not see; the first token always sees itself."""
    return token.place + 1 if mask == "causal" else max(token.place, 1)


def looked(known: Any, head: Any, mask: str, query: str, key: str, copied: dict[str, str]) -> Any:
    """The smallest score gap of a head, and the possible tokens and contents after this head."""
    require((head["rule"], head["mask"]) == ("hardmax", mask), f"a head is not {mask} hardmax")
    tokens, H = zip(*sorted(known), strict=True)
    otherwise = key != "place"  # there may be no matching token: then the head attends to BOS
    queries, keys = affine(H, head["Q"], head["b_Q"]), affine(H, head["K"], head["b_K"])
    asking = {  # with the last such position, which sees what those before it see
        (getattr(token, query), tuple(q)): end(mask, token)
        for token, q in zip(tokens, queries, strict=True)
    }
    telling = {(getattr(s, key), s.place, tuple(k)) for s, k in zip(tokens, keys, strict=True)}
    apart = set()
    for (wanted, q), seen in asking.items():
        scores: dict[int, list[Any]] = {}
        for found, j, k in telling:
            if j < seen:
                at = j if found == wanted or (otherwise and j == 0) else -1
                scores.setdefault(at, []).append(dot(q, k))
        apart |= {min(scores[b]) - max(scores[a]) for a, b in pairwise(sorted(scores))}

    brought: dict[Any, dict[Any, int]] = {}  # by key: labels and content, first position
    for token, row in zip(tokens, mul(H, head["V"], head["O"]), strict=True):
        gift = tuple((mine, getattr(token, theirs)) for mine, theirs in copied.items()), tuple(row)
        for found in (getattr(token, key), *[None][: otherwise and token.place == 0]):
            brought.setdefault(found, {}).setdefault(gift, token.place)
    most = len(known) * max(len(gifts) for gifts in brought.values())
    require(most <= 2**24, f"it has too many contents: {most}")
    after = {
        (token._replace(**dict(labels)), add(row, moved))
        for token, row in known
        for found in (getattr(token, query), None)
        for (labels, moved), place in brought.get(found, {}).items()
        if place < end(mask, token)
    }
    return min(apart, default=0), after


def computed(spec: Any) -> dict[str, Any]:
    require(sorted(spec) == STATEMENT and spec["kind"] == "lookups", "it has unknown fields")
    digest = sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()
    return {**lookups(spec), "sha256": digest}


if __name__ == "__main__":
    try:
        with open(" ".join(sys.argv[1:]), "rb") as file:
            require(bool(gaps := json.loads(file.read(2**28))["gaps"]), "it has no gaps")
        for spec, evidence in ((one["statement"], one["evidence"]) for one in gaps):
            require((found := computed(spec)) == evidence, f"evidence {found}, not {evidence}")
            print("verified:", {k: v for k, v in spec.items() if isinstance(v, int | str)})
    except Exception as error:
        wrong, usage = isinstance(error, ArithmeticError), "python gap_checker.py FILE"
        print(f"wrong: {error}" if wrong else f"cannot read gaps: {error!r:.200}; {usage}")
        sys.exit(1 if wrong else 2)
