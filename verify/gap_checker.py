"""Checks gaps: `python gap_checker.py FILE` exits with 0: verified, 1: not so, 2: unreadable.

It needs Python alone; names are not checked.  The statement: on every sequence of up to `length`
letters (two or more), behind one token that begins it, a transformer of hardmax heads answers
everywhere with hop_k (k = `hops`); letters and logits are 0, 1, …, then come that token and ⊥.

    hop_k(x)_i = x_{find^k(i)},    find(i) = max{ j ≤ i : x_{j−1} = x_i },    ⊥ if there is none,

by a program in which every layer looks at one token: at a place; or at the last with a letter, and
at the first of all (place 0, which stands for ⊥) if there is none.  `first` says which program:

    before   looks at the place before, takes its letter; then the last token with my letter before
             it, find(i): takes its letter (k = 1)
    behind   looks at the last token before me with my letter, find(i) − 1: takes the place after
             it; then, m = 0, 1, …, looks at that place, find^{2^m}(i): takes the place that it
             looks at, find^{2^{m+1}}(i), and, if bit m of k is set, its answer, so that the own
             is hop_{k mod 2^{m+1}}(i)

No sequence is run.  After each layer all pairs of labels and contents are kept that a token may
have.  For all queries and keys of those, the score of the last token that tells what is asked is to
be above all others: of the later of two that tell it above the earlier's, of that above the first
token's, and of the first above those of all that do not tell it.  The least difference is the
layer's gap.  So the head looks where the program does, and what it brings is added; in the end the
largest logit of every content is to be its label's answer.
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
Look = tuple[str, str, str, dict[str, str]]  # mask, what is asked, what is told, what is taken


class Token(NamedTuple):
    """What is known of a token; `letters` stands for none."""

    place: int
    letter: int
    before: int  # the letter before it
    after: int  # the place after it
    at: int  # the place that it looks at
    answer: int


def require(holds: bool, words: str) -> None:
    if not holds:
        raise ArithmeticError(words)


def program(first: str, hops: int) -> list[Look]:
    match = ("causal", "letter", "before", {"answer": "letter"})
    if first == "before" and hops == 1:
        return [("causal", "at", "place", {"before": "letter"}), match]
    require(first == "behind", f"no program of {hops} hops begins {first}")
    looks: list[Look] = [("strictly causal", "letter", "letter", {"at": "after"})]
    while hops:
        bit, hops = hops % 2, hops // 2
        takes = ["answer"] * bit + ["at"] * (hops > 0)
        looks.append(("causal", "at", "place", {label: label for label in takes}))
    return looks


def read(said: Any, key: str = "") -> Any:
    """With numbers for texts of them, and no field that is not read."""
    if isinstance(said, dict):
        require(sorted(said) in FIELDS, f"the fields {[*said]} mean nothing here")
        return {k: v if k in ("mask", "rule") else read(v, k) for k, v in said.items()}
    if isinstance(said, list):
        return [read(v, key) for v in said]
    require(isinstance(said, str) and "." not in said and "e" not in said, f"{key} is {said!r}")
    number = Fraction(said)
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


def lookups(said: Any) -> dict[str, Any]:
    n, V, hops = sizes = [said[size] for size in ("length", "letters", "hops")]
    require(
        all(type(size) is int and size > 0 for size in sizes) and n > 1, f"its sizes are {sizes}"
    )
    require(n * V <= 2**10 and hops < 2**10, f"its sizes are too large: {sizes}")
    model, looks = read(said["model"]), program(said["first"], hops)
    heads = [len(block["heads"]) for block in model["blocks"]]
    require(heads == [1 for _ in looks], f"heads by layer are {heads}, of {len(looks)} looks")
    known = {  # with what a token holds
        (token, add(model["embed"][token.letter], model["positions"][token.place]))
        for token in (
            Token(0, V, V, 0, 0, V),
            *(Token(t, v, V, t + 1, t - 1, v) for t, v in product(range(1, n + 1), range(V))),
        )
    }
    gaps = list[str]()
    for block, look in zip(model["blocks"], looks, strict=True):
        gap, known = looked(known, block["heads"][0], *look)
        require(gap > 0, f"layer {len(gaps) + 1} may look at another token")
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
    """The place before which all tokens are seen; the first sees itself."""
    return token.place + 1 if mask == "causal" else max(token.place, 1)


def looked(known: Any, head: Any, mask: str, asks: str, tells: str, takes: dict[str, str]) -> Any:
    """The least gap, and what tokens may be and hold after the look."""
    require((head["rule"], head["mask"]) == ("hardmax", mask), f"a head is no {mask} hardmax")
    tokens, H = zip(*sorted(known), strict=True)
    otherwise = tells != "place"  # there may be none, and the first token is looked at
    queries, keys = affine(H, head["Q"], head["b_Q"]), affine(H, head["K"], head["b_K"])
    asking = {  # with the last place that asks so, which sees what those before it see
        (getattr(token, asks), tuple(q)): end(mask, token)
        for token, q in zip(tokens, queries, strict=True)
    }
    telling = {(getattr(s, tells), s.place, tuple(k)) for s, k in zip(tokens, keys, strict=True)}
    apart = set()
    for (asked, q), seen in asking.items():
        scores: dict[int, list[Any]] = {}
        for told, j, k in telling:
            if j < seen:
                at = j if told == asked or (otherwise and j == 0) else -1
                scores.setdefault(at, []).append(dot(q, k))
        apart |= {min(scores[b]) - max(scores[a]) for a, b in pairwise(sorted(scores))}

    brought: dict[Any, dict[Any, int]] = {}  # by what is told: labels and content, its first place
    for token, row in zip(tokens, mul(H, head["V"], head["O"]), strict=True):
        gift = tuple((mine, getattr(token, theirs)) for mine, theirs in takes.items()), tuple(row)
        for told in (getattr(token, tells), *[None][: otherwise and token.place == 0]):
            brought.setdefault(told, {}).setdefault(gift, token.place)
    most = len(known) * max(len(gifts) for gifts in brought.values())
    require(most <= 2**24, f"it may hold too much: {most}")
    after = {
        (token._replace(**dict(labels)), add(row, moved))
        for token, row in known
        for told in (getattr(token, asks), None)
        for (labels, moved), place in brought.get(told, {}).items()
        if place < end(mask, token)
    }
    return min(apart, default=0), after


def computed(said: Any) -> dict[str, Any]:
    require(sorted(said) == STATEMENT and said["kind"] == "lookups", "its fields mean nothing here")
    digest = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    return {**lookups(said), "sha256": digest}


if __name__ == "__main__":
    try:
        with open(" ".join(sys.argv[1:]), "rb") as file:
            require(bool(gaps := json.loads(file.read(2**28))["gaps"]), "it has no gaps")
        for said, evidence in ((one["statement"], one["evidence"]) for one in gaps):
            require((found := computed(said)) == evidence, f"evidence {found}, not {evidence}")
            print("verified:", {k: v for k, v in said.items() if isinstance(v, int | str)})
    except Exception as error:
        wrong, usage = isinstance(error, ArithmeticError), "python gap_checker.py FILE"
        print(f"wrong: {error}" if wrong else f"no gaps can be read: {error!r:.200}; {usage}")
        sys.exit(1 if wrong else 2)
