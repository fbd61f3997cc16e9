"""Checks formulas: `python formula_checker.py FILE` exits: 0 verified, 1 wrong, 2 unreadable.

It needs only Python; names are not checked.  The statement is about the weights of a transformer of
linear heads on tokens (x_i, y_i) of n examples and (x, 0) of a query.  For every n and all real
inputs, its prediction is xᵀ M b, with S = Σ x_i x_iᵀ and b = Σ x_i y_i, where M is the result of
`steps` steps M ← (I + E + … + E^{order−1}) M with E = I − M S, from M = αS ("gram") or M = αI
("identity"), or M = Σ c_i S^i for `coefficients` c_0, c_1, ….  The same is true for every d, for
weights with the same numbers c and v.

The stream is divided into `registers`, the widths of which are d (vectors) and 1 (scalars).  The
blocks of W_Q W_Kᵀ between vectors must be multiples c·I, and all others 0; the blocks of W_V W_O
between registers of one kind must be multiples c·I, and all others 0.  Then, by induction over the
layers, a vector contains p(S) x, and a scalar contains a·y + xᵀ g(S) b: a head adds to them, with
K = Σ c p_r p_s over its pairs of query and key registers,

    to p   Σ v t p K          since Σ_i (p x_i)(x_iᵀ K x) = p S K x
    to g   Σ v (a + t g) K    since Σ_i (a y_i + x_iᵀ g b) x_iᵀ K x = xᵀ K (a + S g) b

over the registers that it reads, with their factors v.  A head with the mask "diagonal" and a
constant score adds multiples of the token's own registers.  So the statement is an equality of two
polynomials in one variable t, which are compared at a random t modulo a random prime.
"""

import json
import re
import signal
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, reduce
from hashlib import shake_256
from itertools import count
from math import gcd, prod
from os.path import isfile
from typing import Any

FIELDS = """@ kind name registers steps order start alpha model; @ kind name registers coefficients
model; @model embed positions blocks unembed b_unembed; @blocks: heads mlp; @heads: rule mask Q K V
O b_Q b_K"""
WORDS = r"""(?x)name=".{0,999}"|kind="formula"|rule="linear"|mask="(diagonal|context-only)"
|start="(gram|identity)"|(steps|registers:)=[0-9]{1,5}|order=[1-9][0-9]{0,4}|(positions|mlp)=\[\]
|(blocks|heads|registers|coefficients|b_\w+|(embed|unembed|[QKVO]):?)=\[\]
|(|model|(blocks|heads):)=\{\}|(alpha|(coefficients|b_\w+):|(embed|unembed|[QKVO])::)=
(?P<number>"-?[0-9]{1,400}(/[1-9][0-9]{0,399})?")"""
MOST_BYTES, MOST_WORK, MOST_BITS = 2**25, 2**26, 4096  # of a file, of a statement, of a prime
CHECKERS = {"certificates": "checker", "gaps": "gap_checker"}  # by the field that they read
CHECKERS |= {"formulas": "formula_checker", "programs": "program_checker"}
SENTENCES = {  # by a field of the statement
    "alpha": "M_{steps} b (order {order}, start {start}, alpha {alpha}; named {name!a})",
    "coefficients": "g(S) b ({n} coefficients of g, {coefficients!s:.300}; named {name!a})",
}
Factors = dict[tuple[int, int], Fraction]  # the numbers c, by pairs of registers


def require(holds: bool, words: str) -> None:
    if not holds:
        raise ArithmeticError(words)


def read(spec: Any, at: str = "") -> Any:  # with exact numbers in place of fractions
    return read_text(spec, at) if type(spec) is str else read_new(spec, at)


def read_new(spec: Any, at: str) -> Any:
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
    twos = Fraction(spec).denominator
    require(twos & (twos - 1) == 0, f"{spec} is not an integer over a power of two")
    return Fraction(spec)


read_text = lru_cache(2**12)(read_new)  # most weights are 0 or have few values


class Residue(int):
    """An integer modulo the prime `Residue.p`."""

    p = 2

    def __add__(self, other: int) -> "Residue":
        return Residue((int(self) + int(other)) % self.p)

    def __mul__(self, other: int) -> "Residue":
        return Residue(int(self) * int(other) % self.p)

    @classmethod
    def number(cls, q: Fraction) -> "Residue":
        return cls(q.numerator * pow(q.denominator, -1, cls.p) % cls.p)


class Size(tuple[int, int, int]):
    """(degree, e, b) of a polynomial whose coefficients, over 2^e, sum to at most 2^b."""

    def __add__(self, other: Any) -> "Size":
        degree, e, b = map(max, self, other)
        return Size((degree, e, b + 1))

    def __mul__(self, other: Any) -> "Size":
        size = Size(map(sum, zip(self, other, strict=True)))
        require(max(size).bit_length() < MOST_BITS, "its degree is too large")
        return size

    @classmethod
    def number(cls, q: Fraction) -> "Size":
        twos = q.denominator.bit_length() - 1
        return cls((0, twos, (abs(q.numerator) or 1).bit_length() - twos))


class Statement:
    """The register program that the weights contain; `work` counts multiplications."""

    def __init__(self, spec: Any) -> None:
        self.widths, self.work, self.layers = [*spec["registers"]], 0, list[Any]()
        model, d, last = spec["model"], len(spec["model"]["embed"]) - 1, len(self.widths)
        widths = sorted({*self.widths, 1})
        require(
            d >= 2 and {*widths} <= {d, 1}, f"widths of registers are {widths}, not d > 1 and 1"
        )
        self.embed = self.factors("embed", model["embed"], None, [d, 1], self.widths)
        self.unembed = self.factors("unembed", model["unembed"], None, self.widths, [1])
        require(model["b_unembed"] == [0], "the prediction has a bias")
        for layer, block in enumerate(model["blocks"], 1):
            self.layers.append(heads := list[Any]())
            for number, head in enumerate(block["heads"], 1):
                at = f"layer {layer}, head {number}"
                biased = [*self.widths, 1]  # the last register is the constant 1
                K = [[*row] for row in zip(*head["K"], head["b_K"], strict=True)]
                scores = self.factors(f"{at}, Q K^T", [*head["Q"], head["b_Q"]], K, biased, biased)
                values = self.factors(f"{at}, V O", head["V"], head["O"], self.widths, self.widths)
                own = head["mask"] == "diagonal"
                constant = {*scores} <= {(last, last)}
                linear = all(biased[r] == d for r, _ in scores)
                require(constant if own else linear, f"{at}: its scores are outside the theorem")
                heads.append((own, scores, values))

    def factors(self, at: str, A: Any, B: Any, rows: list[int], columns: list[int]) -> Factors:
        """The numbers c of the blocks c·I of A, or of A B; other blocks are outside the theorem."""
        found: dict[tuple[int, int], dict[tuple[int, int], Fraction]] = {}
        places = [
            [(r, i) for r, w in enumerate(widths) for i in range(w)] for widths in (rows, columns)
        ]
        height, width = len(places[0]), len(places[1])
        shaped = len(A) == height and all(len(row) == width for row in (A if B is None else B))
        require(shaped, f"{at}: a matrix has another shape than the registers")
        for (r, i), row in zip(places[0], A, strict=True):
            if B is not None:
                self.work += len(row) + 16 * width * sum(map(bool, row))
                require(self.work < MOST_WORK, "it takes too many multiplications")
                nonzero = [(a, other) for a, other in zip(row, B, strict=True) if a]
                row = [sum(a * other[j] for a, other in nonzero if other[j]) for j in range(width)]
            for (s, j), value in zip(places[1], row, strict=True):
                if value:
                    found.setdefault((r, s), {})[i, j] = value
        for (r, s), block in found.items():
            c = next(iter(block.values()))
            scalar = rows[r] == columns[s] and block == {(i, i): c for i in range(rows[r])}
            require(scalar, f"{at}: the block of registers {r + 1} and {s + 1} is no multiple of I")
        return {pair: Fraction(next(iter(block.values()))) for pair, block in found.items()}

    def prediction(self, number: Any, t: Any) -> Any:
        """The polynomial g of the prediction xᵀ g(S) b, in the ring of t."""
        zero = number(Fraction(0))
        p, a, g = ([zero] * len(self.widths) for _ in range(3))
        for (column, r), c in self.embed.items():
            (p if column == 0 else a)[r] = number(c)
        for heads in self.layers:
            new = [*p], [*a], [*g]
            for own, scores, moved in heads:
                factors = {pair: number(c) for pair, c in scores.items()}
                K = zero
                for (r, s), c in factors.items():
                    K = K + (c if own else c * p[r] * p[s])
                for (r, s), c in moved.items():
                    v = number(c) * K
                    for now, old in zip(new, (p, a, g), strict=True):
                        if own:
                            now[s] = now[s] + v * old[r]
                    if not own:
                        new[0][s] = new[0][s] + v * t * p[r]
                        new[2][s] = new[2][s] + v * (a[r] + t * g[r])
            p, a, g = new
        answer = zero
        for (r, _), c in self.unembed.items():
            answer = answer + number(c) * g[r]
        return answer


def solved(spec: Any, number: Any, t: Any) -> Any:
    """M after steps M ← M + EM + … + E^{order−1}M from αt or α, with E = 1 − Mt, or Σ c_i t^i."""
    if "coefficients" in spec:
        highest_first = map(number, spec["coefficients"][::-1])
        return reduce(lambda g, c: g * t + c, highest_first, number(Fraction(0)))
    M, minus = number(spec["alpha"]), number(Fraction(-1))
    M = M * t if spec["start"] == "gram" else M
    for _ in range(spec["steps"]):
        first, MS = M, minus * M * t
        for _ in range(spec["order"] - 1):
            M = first + M + MS * M
    return M


def prime(p: int, drawn: Any) -> bool:
    """By the tests of Miller and Rabin to 60 drawn bases: a composite p passes one with ≤ 1/4."""
    twos = (p - 1 & 1 - p).bit_length()
    for i in range(60 if p % 2 else 0):
        powers = [pow(drawn("base", p, i) % (p - 3) + 2, (p - 1) >> (twos - 1), p)]
        while len(powers) < twos - 1:
            powers.append(powers[-1] ** 2 % p)
        if powers[0] != 1 and p - 1 not in powers:
            return False
    return p % 2 == 1


def computed(spec: Any) -> dict[str, Any]:
    """The evidence of a statement; raises ArithmeticError if it is wrong or has no meaning."""
    try:
        statement = shake_256(json.dumps(spec, sort_keys=True).encode())
        spec = read(spec)
        steps = spec["order"] * (spec["steps"] + 1) if "steps" in spec else 0
        require(steps < 2**20, "its steps or order are too large")
        of, sizes = Statement(spec), list[Any]()
        for f in (of.prediction, lambda number, t: solved(spec, number, t)):
            sizes.append(f(Size.number, Size((1, 0, 0))))
    except (LookupError, TypeError, ValueError) as error:
        raise ArithmeticError(f"the statement is malformed: {error!a:.300}") from error
    degree, twos, bits = map(max, *sizes)
    size = degree + max(bits + twos, 0) + 2
    length = 72 + size.bit_length()
    require(length <= MOST_BITS, "its degree is too large")

    def drawn(*which: Any) -> int:  # from the whole statement
        (seed := statement.copy()).update(f"{which}".encode())
        return int.from_bytes(seed.digest(length // 8 + 16))

    large = (2 ** (length - 1) + drawn(i) % 2 ** (length - 1) for i in count())
    small = prod(range(3, 2000, 2))  # a large number with a small factor is no prime
    Residue.p = next(p for p in large if gcd(p, small) == 1 and prime(p, drawn))
    t = Residue(drawn("t") % Residue.p)
    ours, theirs = of.prediction(Residue.number, t), solved(spec, Residue.number, t)
    require(ours == theirs, "the formulas differ")
    return {"degree": degree, "prime": str(Residue.p), "value": str(int(ours))}


def unique(fields: Any) -> dict[str, Any]:
    require(len(known := dict(fields)) == len(fields), "a field is given twice")
    return known


def verified(text: bytes) -> Iterator[str]:
    """A sentence for each statement of a file, once it is verified; its name is not checked."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"a file has at most {MOST_BYTES} bytes")
    file = json.loads(text, object_pairs_hook=unique)
    fields = [*file] if isinstance(file, dict) else []
    if "formulas" not in fields:
        others = [f"use {CHECKERS[each]}.py for its {each}" for each in fields if each in CHECKERS]
        raise ValueError("; ".join(["it has no field 'formulas'", *others]))
    require({*fields} <= {"claim", *CHECKERS}, f"of its fields {fields!a:.300} not all are known")
    require(isinstance(file["formulas"], list) and file["formulas"] != [], "it has no formulas")
    for one in file["formulas"]:
        spec, evidence = one["statement"], one["evidence"]
        require(len(one) == 2, f"besides statement and evidence, {[*one]!a:.300} has more")
        found = computed(spec)
        same = json.dumps(found, sort_keys=True) == json.dumps(evidence, sort_keys=True)
        require(same, f"the evidence is {evidence!a:.200}, not that of this statement, {found}")
        words = next(words for field, words in SENTENCES.items() if field in spec)
        words = words.format(n=len(spec.get("coefficients", ())), **spec)
        d = len(spec["model"]["embed"]) - 1
        yield f"for all n and all real X (n x {d}), y and x, the prediction is x^T {words}"


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # a closed pipe, as of `| head`, ends the command
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        try:
            if len(sys.argv) != 2 or not isfile(sys.argv[1]):  # a pipe would be waited for
                raise ValueError("give one existing regular file: python formula_checker.py FILE")
            with open(sys.argv[1], "rb") as file:
                for sentence in verified(file.read(MOST_BYTES + 1)):
                    print(f"verified: {sentence}", flush=True)
        except Exception as error:
            wrong, own = isinstance(error, ArithmeticError), isinstance(error, ValueError)
            what = str(error) if wrong or own else ascii(error)
            print(f"{'wrong' if wrong else 'cannot read formulas'}: {what:.500}", flush=True)
            sys.exit(1 if wrong else 2)
    except OSError as error:
        sys.stdout = sys.stderr  # at the end, Python would write to the other again
        print(f"cannot write the output: {error}")
        sys.exit(2)
