"""Checks certificates: `python checker.py FILE` exits with 0: verified, 1: not so, 2: unreadable.

It needs Python alone and believes nothing: all evidence is computed again, from the definitions.
    polynomial   a transformer's answer is a recursion's, for all real inputs of these sizes, by
                 points modulo primes drawn from a hash of the statement, and by one over Q
    sequences    its answers are a definition's on every sequence of so many letters, with least
                 gaps, layer by layer, between largest scores and others, and between logits
    cascade      counters, latches and tables say an automaton's state, for words of every length
"""

import json
import sys
from fractions import Fraction
from functools import reduce
from hashlib import sha256
from itertools import count, islice, product
from typing import Any


def require(holds: bool, words: str) -> None:
    if not holds:
        raise ArithmeticError(words)


class Numbers:
    """Sums of products and matrices, as lists of rows: over Q, or modulo p."""

    def __init__(self, p: int = 0) -> None:
        self.p = p

    def number(self, text: Any) -> Any:
        q, p = Fraction(*map(int, str(text).split("/"))), self.p  # and not 1e999999999
        return q.numerator * pow(q.denominator, -1, p) % p if p else q if q % 1 else int(q)

    def dot(self, u: Any, v: Any) -> Any:
        total = sum(a * b for a, b in zip(u, v, strict=True) if a and b)
        return total % self.p if self.p else total

    def mul(self, A: Any, B: Any) -> Any:
        columns = list(zip(*B, strict=True))
        return [[self.dot(row, column) for column in columns] for row in A]

    def affine(self, H: Any, W: Any, b: list[Any]) -> Any:
        return self.mul([[*row, self.number(1)] for row in H], [*W, b])

    def total(self, *terms: Any) -> Any:  # Σ c·A over pairs (c, A)
        c, rows = [self.number(c) for c, _ in terms], zip(*(A for _, A in terms), strict=True)
        return [[self.dot(c, entries) for entries in zip(*row, strict=True)] for row in rows]

    def read(self, said: Any) -> Any:  # the same, with numbers for texts that are rational
        if isinstance(said, dict):
            return {k: v if k in ("rule", "mask") else self.read(v) for k, v in said.items()}
        return [self.read(v) for v in said] if isinstance(said, list) else self.number(said)


class Sizes(Numbers):
    """0, or (degree, e, b) of a polynomial: its coefficients over 2^e are whole, in all ≤ 2^b."""

    def number(self, text: Any) -> Any:
        twos = (q := super().number(text)).denominator.bit_length() - 1
        require(q.denominator == 2**twos, f"{q} is no whole number over a power of two")
        return (0, twos, (abs(q.numerator) - 1).bit_length() - twos) if q else 0

    def dot(self, u: Any, v: Any) -> Any:
        terms = [[*map(sum, zip(a, b, strict=True))] for a, b in zip(u, v, strict=True) if a and b]
        sizes = [max(size) for size in zip(*terms, strict=True)]
        return (sizes[0], sizes[1], sizes[2] + (len(terms) - 1).bit_length()) if terms else 0


def attend(R: Numbers, head: Any, H: Any, examples: int, gaps: set[Any]) -> Any:
    """What a head adds; `gaps` takes those between the largest score and others."""
    Q, K = R.affine(H, head["Q"], head["b_Q"]), R.affine(H, head["K"], head["b_K"])
    V, mixed = R.mul(H, head["V"]), []
    for t, q in enumerate(Q):
        ends = {"causal": t + 1, "strict": max(t, 1), "full": len(H), "examples": examples}
        which = [t] if head["mask"] == "own" else range(ends[head["mask"]])
        shares = [R.dot(q, K[j]) for j in which]
        require(head["rule"] in ("linear", "hardmax"), "it attends by another rule")
        if head["rule"] == "hardmax":
            best = [s == max(shares) for s in shares]
            gaps |= {max(shares) - s for s in shares} - {0}
            shares = [R.number(Fraction(b, sum(best))) for b in best]
        mixed.append([R.dot(shares, column) for column in zip(*(V[j] for j in which), strict=True)])
    return R.mul(mixed, head["O"])


def run(R: Numbers, model: Any, H: Any, examples: int, gaps: list[set[Any]]) -> Any:
    """The read-out at all tokens of an embedded prompt; `gaps` takes those of each layer."""
    H = R.total((1, H), (1, model["positions"][: len(H)])) if model["positions"] else H
    for block, apart in zip(model["blocks"], gaps, strict=True):
        H = R.total((1, H), *((1, attend(R, head, H, examples, apart)) for head in block["heads"]))
        for mlp in block["mlp"]:
            hidden = [[max(x, 0) for x in row] for row in R.affine(H, mlp["in"], mlp["b_in"])]
            H = R.total((1, H), (1, R.affine(hidden, mlp["out"], mlp["b_out"])))
    return R.affine(H, model["unembed"], model["b_unembed"])


def solved(R: Numbers, said: Any, X: Any, y: list[Any], q: list[Any]) -> Any:
    """q M Xᵀy after steps M ← M + EM + … + E^{order−1}M from αS or αI, E = I − MS, S = XᵀX."""
    columns = [[row[i] for row in X] for i in range(len(q))]
    S, b = [[R.dot(u, v) for v in columns] for u in columns], [[R.dot(u, y)] for u in columns]
    unit = [[R.number(int(u is v)) for v in columns] for u in columns]
    M = R.total((said["alpha"], {"gram": S, "identity": unit}[said["start"]]))
    for _ in range(said["steps"]):
        first, MS = M, R.mul(M, S)
        for _ in range(said["order"] - 1):
            M = R.total((1, first), (1, M), (-1, R.mul(MS, M)))
    return R.mul(R.mul([q], M), b)[0][0]


def both(R: Numbers, said: Any, entry: Any) -> tuple[Any, Any]:
    """The transformer's answer and the definition's; entry(name) is the value of an input."""
    each, axes = range(1, said["n"] + 1), range(1, said["d"] + 1)
    *X, q = [[entry(f"{v}{j}") for j in axes] for v in [*(f"x{i}_" for i in each), "q"]]
    prompt = [[entry(v) if v[0] in "xyq" else R.number(v) for v in row] for row in said["prompt"]]
    y, model = [entry(f"y{i}") for i in each], R.read(said["model"])
    H, unused = R.mul(prompt, model["embed"]), [set[Any]() for _ in model["blocks"]]
    return run(R, model, H, said["examples"], unused)[-1][0], solved(R, said, X, y, q)


def polynomial(said: Any) -> dict[str, Any]:
    def drawn(*seed: Any) -> int:
        return int(sha256(json.dumps([said, *seed], sort_keys=True).encode()).hexdigest(), 16)

    work, inputs = said["points"] * said["order"] * (said["steps"] + 1), said["n"] * said["d"]
    require(0 < work <= 2**16 and 0 < inputs <= sum(map(len, said["prompt"])), "sizes too large")
    parts = [part for block in said["model"]["blocks"] for part in block["heads"] + block["mlp"]]
    require(all(part.get("rule") == "linear" for part in parts), "it is no polynomial")
    degree, twos, bits = map(max, *(s or [0] * 3 for s in both(Sizes(), said, lambda _: (1, 0, 0))))
    chance = ((degree + 2 * (bits + twos) + 99) / 2**60) ** said["points"]
    require(chance < 2**-60, f"{said['points']} points may miss a difference: {chance}")
    large, answers = (2**60 + drawn(i) % 2**60 for i in count()), dict[str, Any]()
    primes = (p for p in large if all(pow(a, p - 1, p) == 1 for a in range(2, 60)))
    for p in (0, *islice(primes, said["points"])):  # 0: over Q, in small whole numbers
        ours, theirs = both(Numbers(p), said, lambda name, p=p: drawn(p, name) % (p or 19))
        require(ours == theirs, f"the answers differ {f'modulo {p}' if p else 'over Q'}")
        answers[str(p)] = str(ours)
    return {"degree": degree, "bits": bits + twos, "answers": answers}


def answer(said: Any, word: tuple[int, ...]) -> int:
    """The state after all letters; or so many hops to what came after an equal letter, or −1."""
    if "automaton" in said:
        return reduce(lambda state, letter: said["automaton"][letter][state], word, said["start"])
    at = len(word) - 1
    for _ in range(min(said["hops"], len(word))):  # after so many it stays where it is
        at = max((j + 1 for j in range(at) if word[j] == word[at]), default=-1)
    return word[at] if at >= 0 else -1


def sequences(said: Any) -> dict[str, Any]:
    R, model, margins = Numbers(), Numbers().read(said["model"]), set[Any]()
    gaps, T = [set[Any]() for _ in model["blocks"]], said["length"]
    require(T <= 20 and said["letters"] ** T <= 2**20, "its sequences are too many")
    for word in product(range(said["letters"]), repeat=T):
        H = [model["embed"][token] for token in (*said["prefix"], *word)]
        outputs = run(R, model, H, said["examples"], gaps)
        for t, logits in enumerate(outputs[len(said["prefix"]) :], 1):
            right = logits.pop(answer(said, word[:t]))
            margins |= {right - other for other in logits}
    require(min(margins) > 0, "another answer is given")
    return {"gaps": [str(min(layer, default=0)) for layer in gaps], "margin": str(min(margins))}


def cascade(said: Any) -> dict[str, Any]:
    def table(of: Any, values: Any) -> Any:
        return of["rows"][" ".join(str(values[v]) for v in of["reads"])]

    seen = set(left := [(said["start"], *(stage["first"] for stage in said["stages"]))])
    while left:
        state, *values = left.pop()
        for letter, row in enumerate(said["automaton"]):
            right, after = table(said["answer"], [letter, *values]) == row[state], [letter]
            require(right and len(seen) <= 2**16, "another state is said, or states are too many")
            for stage, value in zip(said["stages"], values, strict=True):
                given = table(stage, after if stage["kind"] == "table" else [letter, *values])
                counted = (value + given) % stage["size"] if stage["kind"] == "counter" else given
                after.append(value if stage["kind"] == "latch" and given == -1 else counted)
            left += {(row[state], *after[1:])} - seen
            seen |= {(row[state], *after[1:])}
    return {"states": len(seen)}


def computed(said: Any) -> dict[str, Any]:
    found = {f.__name__: f for f in (polynomial, sequences, cascade)}[said["kind"]](said)
    return {**found, "sha256": sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()}


if __name__ == "__main__":
    try:
        (path,), sizes = sys.argv[1:], str.split("d n start alpha order steps letters length hops")
        with open(path, "rb") as file:
            require(bool(certificates := json.loads(file.read(2**28))["certificates"]), "is empty")
        for said, evidence in ((one["statement"], one["evidence"]) for one in certificates):
            require((found := computed(said)) == evidence, f"its evidence should be {found}")
            print(f"verified: {said['name']!a}:", *(f"{k} {said[k]}" for k in sizes if k in said))
    except Exception as error:
        wrong, what = isinstance(error, ArithmeticError), f"{error!r:.200}; python checker.py FILE"
        print(f"wrong: {error!s:.500}" if wrong else f"no certificate can be read: {what}")
        sys.exit(1 if wrong else 2)
