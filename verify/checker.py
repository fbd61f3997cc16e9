"""Checks certificates: `python checker.py FILE` exits with 0: verified, 1: wrong, 2: unreadable.

It needs only Python and recomputes all evidence by definition.  Names are not checked.
    polynomial   the answer is that of a recursion for all inputs, by hashed points mod primes and Q
    sequences    answers on all sequences of a length, by a definition or a table (0…00, 0…01, …)
    cascade      stages, each with the earlier stages as inputs, compute an automaton's states
"""

import json
import re
import signal
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from hashlib import sha256
from itertools import count, islice, product
from os.path import isfile
from typing import Any

FIELDS = """@ kind name letters length prefix hops examples model; @model embed positions blocks
unembed b_unembed; @ kind name letters length prefix automaton start examples model; @ kind name
letters length prefix table examples model; @blocks: heads mlp; @heads: rule mask Q K V O b_Q b_K;
@mlp: in b_in out b_out; @ kind name automaton start stages answer; @stages: kind size first reads
rows; @answer reads rows; @ kind name d n steps order start alpha prompt points examples model"""
WORDS = r"""(?x)name=".{0,999}"|rule="(linear|hardmax)"|mask="(full|(strictly\ )?causal|diagonal)"
|mask="context-only"|start="(gram|identity)"|kind="(polynomial|sequences|cascade|counter|latch)"
|kind="table"|(d|n|order|points|letters|length)=[1-9][0-9]{0,4}|prompt::="[xyq][0-9_]{1,9}"
|(steps|hops|examples|start|size|first)=[0-9]{1,5}|(prefix:|reads:|(automaton|table)::)=[0-9]{1,5}
|rows\.=(-1|[0-9]{1,5})|(prefix|reads|stages|blocks|heads|mlp|b_\w+|(automaton|table|prompt|embed
|positions|unembed|[QKVO]|in|out):?)=\[\]|(|model|answer|rows|(stages|blocks|heads|mlp):)=\{\}
|(alpha|b_\w+:|(prompt|embed|positions|unembed|[QKVO]|in|out)::)=
(?P<number>"-?[0-9]{1,400}(/[1-9][0-9]{0,399})?")"""
MOST_BYTES, MOST_WORK = 2**25, 2**28  # of a file, and multiplications for a statement
CHECKERS = {"certificates": "checker", "gaps": "gap_checker"}  # by the field that they read
CHECKERS |= {"formulas": "formula_checker", "programs": "program_checker"}
OUTPUTS = {  # by a field of the statement
    "alpha": "q M_{steps} X^T y for all X ({n} x {d}), y, q; order {order}, {start}, alpha {alpha}",
    "hops": "hop_{hops}, on all {letters}^{length} sequences",
    "stages": "the states of the automaton, on words of every length",
    "automaton": "the states of the automaton, on all {letters}^{length} sequences",
    "table": "those of the table at the last tokens, on all {letters}^{length} sequences",
}


def require(holds: bool, words: str) -> None:
    if not holds:
        raise ArithmeticError(words)


class Numbers(int):
    """Arithmetic of matrices (lists of rows) modulo a prime, or over ℚ if the modulus is 0."""

    work = 0  # the multiplications so far; those of long numbers count as several

    def number(self, text: Any) -> Any:
        q, p = Fraction(text), int(self)
        return q.numerator * pow(q.denominator, -1, p) % p if p else q if q % 1 else int(q)

    def dot(self, u: Any, v: Any) -> Any:
        total = sum(a * b for a, b in zip(u, v, strict=True) if a and b)
        if self:
            total %= self
        self.spend(len(u), max(total.numerator.bit_length(), total.denominator.bit_length()))
        return total

    def spend(self, multiplications: int, bits: int) -> None:
        self.work += 1 + multiplications * (1 + bits // 256)
        require(bits < 14200, "its numbers or coefficients have more than 4200 digits")
        require(self.work < MOST_WORK, "it takes too many multiplications")

    def mul(self, A: Any, B: Any) -> Any:
        return [[self.dot(row, column) for column in zip(*B, strict=True)] for row in A]

    def affine(self, H: Any, W: Any, b: list[Any]) -> Any:
        return self.mul([[*row, self.number(1)] for row in H], [*W, b])

    def total(self, *terms: Any) -> Any:  # the sum Σ c·A over pairs (c, A)
        c, rows = [self.number(c) for c, _ in terms], zip(*(A for _, A in terms), strict=True)
        return [[self.dot(c, entries) for entries in zip(*row, strict=True)] for row in rows]

    def read(self, spec: Any, at: str = "") -> Any:  # with numbers for 0, 1, … and fractions
        text = json.dumps(type(spec)() if isinstance(spec, list | dict) else spec)
        ok, verb = re.fullmatch(WORDS, f"{at}={text}"), "contains" if at[-1:] == ":" else "is"
        require(bool(ok), f"{at.rstrip(':.') or 'the statement'} {verb} {spec!a:.300}")
        if isinstance(spec, dict):
            known = [sorted(fields.split()) for fields in FIELDS.split(";")]
            held = at == "rows" or sorted([*spec, f"@{at}"]) in known
            require(held, f"no part has the fields {[*spec]!a:.300}")
            return {k: self.read(v, "rows." if at == "rows" else k) for k, v in spec.items()}
        if isinstance(spec, list):
            return [self.read(v, f"{at}:") for v in spec]
        if not (ok and ok["number"]):
            return spec
        twos = Fraction(spec).denominator
        require(twos & (twos - 1) == 0, f"{spec} is not an integer over a power of two")
        return self.number(spec)


class Sizes(Numbers):
    """(degree, e, b) of a polynomial whose coefficients, over 2^e, sum to at most 2^b; or 0."""

    def number(self, text: Any) -> Any:
        q = Fraction(text)
        twos = q.denominator.bit_length() - 1
        return (0, twos, (abs(q.numerator) - 1).bit_length() - twos) if q else 0

    def dot(self, u: Any, v: Any) -> Any:
        terms = [[*map(sum, zip(a, b, strict=True))] for a, b in zip(u, v, strict=True) if a and b]
        sizes = [max(size) for size in zip(*terms, strict=True)]
        self.spend(4 * len(u), sum(sizes))
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


def prime(p: int) -> bool:
    """By strong tests to the bases up to 37, which decide p < 3·10²³ (Sorenson and Webster)."""
    twos = (p - 1 & 1 - p).bit_length()
    powers = ([pow(a, (p - 1) >> i, p) for i in range(1, twos)] for a in range(2, 38))
    return p % 2 == 1 and all(a[-1] == 1 or p - 1 in a for a in powers)


def polynomial(spec: Any) -> dict[str, Any]:
    n, d, steps, order, points = (spec[f] for f in ("n", "d", "steps", "order", "points"))
    named = {v for row in spec["prompt"] for v in row if v[0] in "xyq"}
    require(len(named) == n * d + n + d, "the prompt has more inputs or fewer")
    require(points < 9 and order * (steps + 1) * d * d * (n + d) < 2**24, "it is too large")
    X = [[f"x{i + 1}_{j + 1}" for j in range(d)] for i in range(n)]
    y, q = [f"y{i + 1}" for i in range(n)], [f"q{j + 1}" for j in range(d)]
    require(named == {*y, *q, *(v for row in X for v in row)}, "the prompt has other inputs")
    seed = sha256(f"[{json.dumps(spec, sort_keys=True)}".encode())

    def drawn(*which: Any) -> int:  # from the whole statement
        (hashed := seed.copy()).update(f", {json.dumps(which)[1:]}".encode())
        return int(hashed.hexdigest(), 16)

    def both(R: Numbers, entry: Any) -> tuple[Any, Any]:  # entry(name): the value of an input
        at, model = {v: entry(v) for v in named}, R.read(spec["model"], "model")
        H = [[at[v] if v in at else R.number(v) for v in row] for row in spec["prompt"]]
        H, unused = R.mul(H, model["embed"]), [set[Any]() for _ in model["blocks"]]
        inputs = [[at[v] for v in row] for row in X], [at[v] for v in y], [at[v] for v in q]
        return run(R, model, H, spec["examples"], unused)[-1][0], solved(R, spec, *inputs)

    parts = [p for b in spec["model"]["blocks"] for p in b["heads"] + b["mlp"] if p.get("b_in", 1)]
    require(all(p.get("rule") == "linear" for p in parts), "it is not a polynomial")
    degree, twos, bits = map(max, *(s or (0, 0, 0) for s in both(Sizes(), lambda _: (1, 0, 0))))
    missed = ((degree + 2 * (bits + twos) + 99) / 2**60) ** points
    require(missed < 2**-60, f"{points} points may miss a difference: {missed}")
    large, answers = (2**60 + drawn(i) % 2**60 for i in count()), dict[str, Any]()
    for p in (0, *islice(filter(prime, large), points)):  # 0: over Q, with small integers
        ours, theirs = both(Numbers(p), lambda name, p=p: drawn(p, name) % (p or 19))
        require(ours == theirs, f"the answers differ {f'modulo {p}' if p else 'over Q'}")
        answers[str(p)] = str(ours)
    require(len(answers) > points, "a prime is drawn twice")
    return {"degree": degree, "bits": bits + twos, "answers": answers}


def sequences(spec: Any) -> dict[str, Any]:
    def answer(word: Any) -> Any:  # the state, or that of hops
        if "automaton" in spec:
            return reduce(lambda q, symbol: spec["automaton"][symbol][q], word, spec["start"])
        for _ in range(min(spec["hops"], len(word))):
            word = word[: max((j + 2 for j, v in enumerate(word[:-1]) if v == word[-1]), default=0)]
        return word[-1] if word else spec["letters"]

    letters, length, first = spec["letters"], spec["length"], len(spec["prefix"])
    many, table = max(letters, 2) ** min(length, 21), spec.get("table")
    require(many <= 2**20, "its sequences are too many")
    require("table" not in spec or len(table) == letters**length, "the table has another size")
    R, margins, gaps = Numbers(), set[Any](), [set[Any]() for _ in spec["model"]["blocks"]]
    model = R.read(spec["model"], "model")
    for i, word in enumerate(product(range(letters), repeat=length), 1):
        H = [model["embed"][v] for v in (*spec["prefix"], *word)]
        best = table[i - 1] if table else [answer(word[: t + 1]) for t in range(length)]
        outputs = run(R, model, H, spec["examples"], gaps)[first:][-len(best) :]
        for t, (logits, symbol) in enumerate(zip(outputs, best, strict=True), 1):
            right = logits.pop(symbol)
            require(right > max(logits), f"answer {t} of {len(best)} differs on {[*word]}")
            margins.add(right - max(logits))
        require(R.work * many < MOST_WORK * i, "it takes too many multiplications")
    return {"gaps": [str(min(layer, default=0)) for layer in gaps], "margin": str(min(margins))}


def cascade(spec: Any) -> dict[str, Any]:
    def table(of: Any, values: Any) -> Any:
        return of["rows"][" ".join(str(values[v]) for v in of["reads"])]

    seen = {(spec["start"], *(stage["first"] for stage in spec["stages"]))}
    parts = [spec["answer"], *spec["stages"]]
    work = sum(1 + i // 16 + len(of["reads"]) for i, of in enumerate(parts))
    for state, *values in (left := [*seen]):
        require(spec["automaton"] != [] and len(seen) <= 2**16, "no symbols, or too many states")
        require(len(seen) * len(spec["automaton"]) * work <= 2**21, "too many stages or symbols")
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
    """The evidence of a statement; raises ArithmeticError if it is wrong or has no meaning."""
    try:
        kind, text = Numbers().read(spec)["kind"], json.dumps(spec, sort_keys=True).encode()
        found = {f.__name__: f for f in (polynomial, sequences, cascade)}[kind](spec)
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
    if "certificates" not in fields:
        others = [f"use {CHECKERS[each]}.py for its {each}" for each in fields if each in CHECKERS]
        raise ValueError("; ".join(["it has no field 'certificates'", *others]))
    require({*fields} <= {"claim", *CHECKERS}, f"of its fields {fields!a:.300} not all are known")
    certificates = file["certificates"]
    require(isinstance(certificates, list) and certificates != [], "it has no certificates")
    for one in certificates:
        spec, evidence = one["statement"], one["evidence"]
        require(len(one) == 2, f"besides statement and evidence, {[*one]!a:.300} has more")
        found = computed(spec)
        same = json.dumps(found, sort_keys=True) == json.dumps(evidence, sort_keys=True)
        require(same, f"the evidence is {evidence!a:.200}, not that of this statement, {found}")
        outputs = next(words for field, words in OUTPUTS.items() if field in spec)
        yield f"the outputs are {outputs.format(**spec)} (named {spec['name']!a})"


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # a closed pipe, as of `| head`, ends the command
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        try:
            if len(sys.argv) != 2 or not isfile(sys.argv[1]):  # a pipe would be waited for
                raise ValueError("give one existing regular file: python checker.py FILE")
            with open(sys.argv[1], "rb") as file:
                for sentence in verified(file.read(MOST_BYTES + 1)):
                    print(f"verified: {sentence}", flush=True)
        except Exception as error:
            wrong, own = isinstance(error, ArithmeticError), isinstance(error, ValueError)
            what = str(error) if wrong or own else ascii(error)
            print(f"{'wrong' if wrong else 'cannot read a certificate'}: {what:.500}", flush=True)
            sys.exit(1 if wrong else 2)
    except OSError as error:
        sys.stdout = sys.stderr  # at the end, Python would write to the other again
        print(f"cannot write the output: {error}")
        sys.exit(2)
