"""Checks certificates: `python checker.py FILE` exits with 0: verified, 1: wrong, 2: unreadable.

It needs only Python and recomputes all evidence by definition.  Names are not checked.
    polynomial   the answer is that of a recursion for all inputs, by hashed points mod primes and Q
    sequences    its answers on all sequences of a length are those of a definition; with gaps
    cascade      stages, each with the earlier stages as inputs, compute an automaton's states
"""

import json
import re
import sys
from fractions import Fraction
from functools import reduce
from hashlib import sha256
from itertools import count, islice, product
from typing import Any

FIELDS = """kind name letters length prefix hops examples model; kind size first reads rows;
kind name letters length prefix automaton start examples model; rule mask Q K V O b_Q b_K;
kind name d n steps order start alpha prompt points examples model; in b_in out b_out; reads rows;
kind name automaton start stages answer; embed positions blocks unembed b_unembed; heads mlp"""
WORDS = r"""(?x)name=.*|rows=-1|(?!rule|mask|kind)\w*=([0-9]{1,5}|"-?[0-9]+(?:/[0-9]+)?")
|rule="(?:linear|hardmax)"|mask="(?:full|(?:strictly\ )?causal|context-only|diagonal)"
|start="(?:gram|identity)"|prompt="[xyq][0-9_]+"
|kind="(?:polynomial|sequences|cascade|counter|latch|table)" """


def require(holds: bool, words: str) -> None:
    if not holds:
        raise ArithmeticError(words)


class Numbers(int):
    """Arithmetic of matrices (lists of rows) modulo a prime, or over ℚ if the modulus is 0."""

    def number(self, text: Any) -> Any:
        q, p = Fraction(text), int(self)
        return q.numerator * pow(q.denominator, -1, p) % p if p else q if q % 1 else int(q)

    def dot(self, u: Any, v: Any) -> Any:
        total = sum(a * b for a, b in zip(u, v, strict=True) if a and b)
        return total % self if self else total

    def mul(self, A: Any, B: Any) -> Any:
        return [[self.dot(row, column) for column in zip(*B, strict=True)] for row in A]

    def affine(self, H: Any, W: Any, b: list[Any]) -> Any:
        return self.mul([[*row, self.number(1)] for row in H], [*W, b])

    def total(self, *terms: Any) -> Any:  # the sum Σ c·A over pairs (c, A)
        c, rows = [self.number(c) for c, _ in terms], zip(*(A for _, A in terms), strict=True)
        return [[self.dot(c, entries) for entries in zip(*row, strict=True)] for row in rows]

    def read(self, spec: Any, at: str = "") -> Any:  # with numbers for 0, 1, … and fractions
        if isinstance(spec, dict):
            known = at == "rows" or sorted(spec) in [sorted(f.split()) for f in FIELDS.split(";")]
            require(known, f"unknown fields {[*spec]}")
            return {k: self.read(v, "rows" if at == "rows" else k) for k, v in spec.items()}
        if isinstance(spec, list):
            return [self.read(v, at) for v in spec]
        require(bool(ok := re.fullmatch(WORDS, f"{at}={json.dumps(spec)}")), f"{at} is {spec!r}")
        return self.number(spec) if ok and ok[1] else spec


class Sizes(Numbers):
    """(degree, e, b) of a polynomial whose coefficients, over 2^e, sum to at most 2^b; or 0."""

    def number(self, text: Any) -> Any:
        twos = (q := super().number(text)).denominator.bit_length() - 1
        require(q.denominator == 2**twos, f"{q} is not an integer over a power of two")
        return (0, twos, (abs(q.numerator) - 1).bit_length() - twos) if q else 0

    def dot(self, u: Any, v: Any) -> Any:
        terms = [[*map(sum, zip(a, b, strict=True))] for a, b in zip(u, v, strict=True) if a and b]
        sizes = [max(size) for size in zip(*terms, strict=True)]
        return (sizes[0], sizes[1], sizes[2] + (len(terms) - 1).bit_length()) if terms else 0


def run(R: Numbers, model: Any, H: Any, examples: int, gaps: list[set[Any]]) -> Any:
    """The outputs at all tokens; distances of scores from the largest are added to `gaps`."""
    H = R.total((1, H), (1, model["positions"][: len(H)])) if model["positions"] else H
    for block, apart in zip(model["blocks"], gaps, strict=True):
        added = list[Any]()
        for head in block["heads"]:
            Q, K = R.affine(H, head["Q"], head["b_Q"]), R.affine(H, head["K"], head["b_K"])
            V, mixed = R.mul(H, head["V"]), list[Any]()
            for t, q in enumerate(Q):
                ends = {"full": len(H), "context-only": examples, "strictly causal": max(t, 1)}
                which = range(t * (head["mask"] == "diagonal"), ends.get(head["mask"], t + 1))
                mixture = [R.dot(q, K[j]) for j in which]
                if {"linear": False, "hardmax": True}[head["rule"]]:
                    best = [s == max(mixture) for s in mixture]
                    apart |= {max(mixture) - s for s in mixture} - {0}
                    mixture = [R.number(Fraction(b, sum(best))) for b in best]
                mixed += R.mul([mixture], [V[j] for j in which])
            added.append((1, R.mul(mixed, head["O"])))
        H = R.total((1, H), *added)
        for mlp in block["mlp"]:
            hidden = [[max(x, 0) for x in row] for row in R.affine(H, mlp["in"], mlp["b_in"])]
            H = R.total((1, H), (1, R.affine(hidden, mlp["out"], mlp["b_out"])))
    return R.affine(H, model["unembed"], model["b_unembed"])


def solved(R: Numbers, spec: Any, X: Any, y: list[Any], q: list[Any]) -> Any:
    """q M Xᵀy after steps M ← M + EM + … + E^{order−1}M from αS or αI, E = I − MS, S = XᵀX."""
    columns = [[row[i] for row in X] for i in range(len(q))]
    S, b = [[R.dot(u, v) for v in columns] for u in columns], [[R.dot(u, y)] for u in columns]
    unit = [[R.number(int(u is v)) for v in columns] for u in columns]
    M = R.total((spec["alpha"], {"gram": S, "identity": unit}[spec["start"]]))
    for _ in range(spec["steps"]):
        first, MS = M, R.mul(M, S)
        for _ in range(spec["order"] - 1):
            M = R.total((1, first), (1, M), (-1, R.mul(MS, M)))
    return R.mul(R.mul([q], M), b)[0][0]


def polynomial(spec: Any) -> dict[str, Any]:
    def drawn(*seed: Any) -> int:
        return int(sha256(json.dumps([spec, *seed], sort_keys=True).encode()).hexdigest(), 16)

    def both(R: Numbers, entry: Any) -> tuple[Any, Any]:  # entry(name): the value of an input
        each, axes = range(1, spec["n"] + 1), range(1, spec["d"] + 1)
        *X, q = [[entry(f"{v}{j}") for j in axes] for v in [*(f"x{i}_" for i in each), "q"]]
        H = [[entry(v) if v[0] in "xyq" else R.number(v) for v in row] for row in spec["prompt"]]
        y, model = [entry(f"y{i}") for i in each], R.read(spec["model"])
        H, unused = R.mul(H, model["embed"]), [set[Any]() for _ in model["blocks"]]
        return run(R, model, H, spec["examples"], unused)[-1][0], solved(R, spec, X, y, q)

    rules = {part.get("rule") for b in spec["model"]["blocks"] for part in b["heads"] + b["mlp"]}
    work = spec["points"] * spec["order"] * (spec["steps"] + 1) * spec["n"] * spec["d"]
    require(rules <= {"linear"} and work < 2**24, "it is not a polynomial, or too large")
    degree, twos, bits = map(max, *(s or (0, 0, 0) for s in both(Sizes(), lambda _: (1, 0, 0))))
    missed = ((degree + 2 * (bits + twos) + 99) / 2**60) ** spec["points"]
    require(missed < 2**-60, f"{spec['points']} points may miss a difference: {missed}")
    large, answers = (2**60 + drawn(i) % 2**60 for i in count()), dict[str, Any]()
    primes = (p for p in large if all(pow(a, p - 1, p) == 1 for a in range(2, 60)))
    for p in (0, *islice(primes, spec["points"])):  # 0: over Q, with small integers
        ours, theirs = both(Numbers(p), lambda name, p=p: drawn(p, name) % (p or 19))
        require(ours == theirs, f"the answers differ {f'modulo {p}' if p else 'over Q'}")
        answers[str(p)] = str(ours)
    return {"degree": degree, "bits": bits + twos, "answers": answers}


def sequences(spec: Any) -> dict[str, Any]:
    def answer(word: Any) -> Any:  # the state, or that of hops
        if "automaton" in spec:
            return reduce(lambda q, symbol: spec["automaton"][symbol][q], word, spec["start"])
        for _ in range(min(spec["hops"], len(word))):
            word = word[: max((j + 2 for j, v in enumerate(word[:-1]) if v == word[-1]), default=0)]
        return word[-1] if word else spec["letters"]

    R, model, margins = Numbers(), Numbers().read(spec["model"]), set[Any]()
    gaps, many = [set[Any]() for _ in model["blocks"]], max(spec["letters"], 2) ** spec["length"]
    require(many <= 2**20, "its sequences are too many")
    for word in product(range(spec["letters"]), repeat=spec["length"]):
        first, H = len(spec["prefix"]), [model["embed"][v] for v in (*spec["prefix"], *word)]
        for t, logits in enumerate(run(R, model, H, spec["examples"], gaps)[first:], 1):
            right = logits.pop(answer(word[:t]))
            margins |= {right - other for other in logits}
    require(min(margins) > 0, "another answer is given")
    return {"gaps": [str(min(layer, default=0)) for layer in gaps], "margin": str(min(margins))}


def cascade(spec: Any) -> dict[str, Any]:
    def table(of: Any, values: Any) -> Any:
        return of["rows"][" ".join(str(values[v]) for v in of["reads"])]

    seen = {(spec["start"], *(stage["first"] for stage in spec["stages"]))}
    for state, *values in (left := [*seen]):
        require(spec["automaton"] != [] and len(seen) <= 2**16, "no symbols, or too many states")
        for symbol, row in enumerate(spec["automaton"]):
            require(table(spec["answer"], [symbol, *values]) == row[state], "another state results")
            after = [symbol]
            for i, (stage, value) in enumerate(zip(spec["stages"], values, strict=True)):
                require(value in range(stage["size"]), f"a value of stage {i + 1} is too large")
                given = table(stage, after if stage["kind"] == "table" else [symbol, *values[:i]])
                counted, stored = (value + given) % stage["size"], value if given == -1 else given
                after.append({"counter": counted, "latch": stored, "table": given}[stage["kind"]])
            left += {(row[state], *after[1:])} - seen
            seen |= {(row[state], *after[1:])}
    return {"states": len(seen)}


def computed(spec: Any) -> dict[str, Any]:
    kind, digest = Numbers().read(spec)["kind"], sha256(json.dumps(spec, sort_keys=True).encode())
    found = {f.__name__: f for f in (polynomial, sequences, cascade)}[kind](spec)
    return {**found, "sha256": digest.hexdigest()}


if __name__ == "__main__":
    try:
        with open(" ".join(sys.argv[1:]), "rb") as file:
            require(bool(certificates := json.loads(file.read(2**28))["certificates"]), "is empty")
        for spec, evidence in ((one["statement"], one["evidence"]) for one in certificates):
            require((found := computed(spec)) == evidence, f"evidence {found}, not {evidence}")
            print("verified:", {k: v for k, v in spec.items() if isinstance(v, int | str)})
    except Exception as error:
        wrong, what = isinstance(error, ArithmeticError), f"{error!r:.200}; python checker.py FILE"
        print(f"wrong: {error!s:.500}" if wrong else f"cannot read a certificate: {what}")
        sys.exit(1 if wrong else 2)
