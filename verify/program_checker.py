"""Checks programs: `python program_checker.py FILE` exits with 0: verified, 1: wrong, 2: none.

It needs only Python; names are not checked.  The statement: at all sequences of 1 to `length`
tokens, each one of `tokens`, after one BOS token, a transformer of hardmax heads computes a program
in RASP: at every position, the answer with the largest logit is the value of the program.

A program is a list of operations.  Each refers to earlier ones by their numbers, 0, 1, …, and the
last one is the program.  At position i = 0, …, n − 1 of the tokens x_0, …, x_{n−1} they are:

    tokens, indices, length   x_i, i, and n (i + 1 if the program is `causal`)
    linear                    the sum of `factors` times the values of `of`
    map                       the end of the row of `table` that begins with the values of `of`
    select                    selects j if `pairs` contains [value of `keys` at j, of `queries` at
                              i], or holds: "true", "false", "==", "!=", "<", "<=", ">" or ">="
    and, or, not              of selectors, entrywise
    mean                      of the values of `of` at all j that are selected, or their common
                              value; `default` if there is no such j
    width                     the number of selected j
    sum                       the same, computed as the sum of `factors` times the widths `of`

Numbers are "-3/4"; other values are any text.  "None" is no value: linear combinations and maps
of it are "None", and no comparison but "true" holds for it.  Causal programs select only j ≤ i.

No sequence is run.  For each n, all pairs of values and contents that a token may have are
enumerated, layer by layer.  `layers` names the operations that each head computes, with the columns
of the stream to which it adds them.  For every query and all keys that may stand at each position,
the selected keys have one score, above those of all others; BOS has the same score if the head
counts, and otherwise one between the two.  So the head averages over the selected tokens: over w
of them, for every w that is possible; over BOS if w = 0, and over BOS and the w tokens if it
counts.  If different values may be averaged, the column is an affine function of the value.  The
selectors of a sum add up entrywise.  Finally, the largest logit is that of the value of the program
for all contents.  The smallest difference of scores in a layer is its gap.
"""

import json
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import product
from math import gcd, lcm, prod
from os.path import isfile
from typing import Any, NamedTuple

FIELDS = """@ answers causal kind layers length model name operations tokens; @model b_unembed
blocks embed positions unembed; @blocks: heads mlp; @heads: K O Q V b_K b_Q mask rule; @mlp: b_in
b_out in out; @tokens: op; @indices: op; @length: op; @linear: factors of op; @map: of op table;
@select: keys op pairs queries; @and: of op; @or: of op; @not: of op; @width: op selector;
@mean: default of op selector; @sum: factors of op selector"""
WORDS = r"""(?x)name=".{0,999}"|kind="program"|rule="hardmax"|mask="(full|(strictly\ )?causal)"
|causal=(true|false)|(length)=[1-9][0-9]{0,2}|op="(tokens|indices|length|map|linear|select|mean)"
|op="(width|and|or|not|sum)"|(of:?|keys|queries|selector|layers::::)=[0-9]{1,3}|pairs="(true|false|[!<>=]?=|[<>])"
|(of|factors|table:?|pairs:?|tokens|answers|operations|blocks|heads|layers:{0,3}|mlp|b_\w+
|(embed|positions|unembed|[QKVO]|in|out):?)=\[\]|(model|(operations|blocks|heads|mlp):|)=\{\}
|(?P<value>(default|(tokens|answers|factors):|(table|pairs)::)=".{1,99}")|(b_\w+:
|(embed|positions|unembed|[QKVO]|in|out)::)=(?P<number>"-?[0-9]{1,400}(/[1-9][0-9]{0,399})?")"""
MOST_BYTES, MOST_WORK, MOST_CONTENTS = 2**25, 2**27, 2**15  # work: multiplications
CHECKERS = {"certificates": "checker", "gaps": "gap_checker"}  # by the field that they read
CHECKERS |= {"formulas": "formula_checker", "programs": "program_checker"}
SENTENCE = """on all sequences of up to {length} of {many} tokens, the outputs are the values of \
the program of {count} operations (named {name!a})"""
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda key, query: key == query,
    "!=": lambda key, query: key != query,
    "<": lambda key, query: number(key) < number(query),
    "<=": lambda key, query: number(key) <= number(query),
    ">": lambda key, query: number(key) > number(query),
    ">=": lambda key, query: number(key) >= number(query),
}
UNKNOWN = ...  # the value of an operation that no head has computed yet
Matrix = list[list[Any]]
Labels = tuple[Any, ...]  # the values of all operations at one position


class Token(NamedTuple):
    place: int
    labels: Labels
    row: tuple[Any, ...]  # its content


class TooLarge(ArithmeticError):
    """The statement may be right, but takes more work than the checker does."""


def require(holds: bool, words: str, error: type[Exception] = ArithmeticError) -> None:
    if not holds:
        raise error(words)


def number(value: Any) -> Any:
    require(not isinstance(value, str), f"{value!a:.99} is not a number")
    return value


def read(spec: Any, at: str = "") -> Any:
    """Returns the value of field `at` with numbers in place of texts; others raise an error."""
    text = json.dumps(type(spec)() if isinstance(spec, list | dict) else spec)
    ok, verb = re.fullmatch(WORDS, f"{at}={text}"), "contains" if at[-1:] == ":" else "is"
    require(bool(ok), f"{at.rstrip(':.') or 'the statement'} {verb} {spec!a:.300}")
    if isinstance(spec, dict):
        known = [sorted(fields.split()) for fields in FIELDS.split(";")]
        kind = f"{spec.get('op')}:" if at == "operations:" else at
        require(sorted([*spec, f"@{kind}"]) in known, f"no part has the fields {[*spec]!a:.300}")
        return {k: read(v, k) for k, v in spec.items()}
    if isinstance(spec, list):
        return [read(v, f"{at}:") for v in spec]
    short = ok and ok["value"] and re.fullmatch(r"-?[0-9]{1,30}(/[1-9][0-9]{0,29})?", spec)
    if not (ok and (ok["number"] or short)):
        return spec
    value, twos = Fraction(spec), Fraction(spec).denominator
    require(bool(ok["value"]) or not twos & twos - 1, f"{spec} is no integer over a power of two")
    return whole(value)


class Exact:
    """Arithmetic of rows over ℚ; integers are ints."""

    def __init__(self, most: int) -> None:
        self.most, self.work = most, 0  # multiplications; those of long numbers count as several

    def dot(self, u: Any, v: Any) -> Any:
        total = whole(sum(a * b for a, b in zip(u, v, strict=True)))
        bits = total.numerator.bit_length() + total.denominator.bit_length()
        self.spend(len(u) * (1 + bits // 256))
        require(bits < 2**11, "a number has too many digits")
        return total

    def spend(self, multiplications: int) -> None:
        self.work += 1 + multiplications
        require(self.work < self.most, "it takes too many multiplications", TooLarge)

    def mul(self, A: Any, *Bs: Any) -> Matrix:
        for B in Bs:
            require(all(len(row) == len(B) for row in A), "shapes of weights do not fit")
            columns = [self.times(A, column) for column in zip(*B, strict=True)]
            A = [[*row] for row in zip(*columns, strict=True)]
        return list(A)

    def times(self, A: Any, column: Any) -> list[Any]:
        """The products of rows with a column; most of its entries are 0, and most rows agree."""
        places = [i for i, b in enumerate(column) if b]
        weights, known = [column[i] for i in places], dict[Any, Any]()
        for row in (rows := [(*(row[i] for i in places),) for row in A]):
            if row not in known:
                known[row] = self.dot(row, weights)
        self.spend(len(rows))
        return [known[row] for row in rows]

    def affine(self, H: Any, W: Any, b: Any) -> Matrix:
        return self.mul([[*row, 1] for row in H], [*W, b])


def whole(number: Any) -> Any:
    return number if isinstance(number, int) or number.denominator > 1 else int(number)


class Program:
    """The operations, in sequences of n tokens."""

    def __init__(self, R: Exact, spec: Any) -> None:
        self.R, self.ops, self.causal, self.n = R, spec["operations"], spec["causal"], 0
        self.tables = [{(*of,): v for *of, v in op.get("table", [])} for op in self.ops]
        self.pairs = [{(*pair,) for pair in op.get("pairs", [])} for op in self.ops]
        self.inside: dict[int | None, list[int]] = {None: []}  # the selectors that one consists of
        for k, op in enumerate(self.ops):
            of = op["of"] if isinstance(op.get("of"), list) else [op.get("of", -1)]
            earlier = max(-1, *of, *(op.get(each, -1) for each in ("keys", "queries", "selector")))
            require(earlier < k, f"operation {k} refers to operation {earlier}")
            require(op["op"] != "not" or len(of) == 1, f"operation {k} is of several")
            parts = {part for each in of for part in self.inside.get(each, ())}
            if op["op"] in ("select", "and", "or", "not"):
                self.inside[k] = [*sorted(parts), k]

    def at(self, i: int, symbol: Any) -> Labels:
        """The values at position i before the first layer."""
        own = {"tokens": symbol, "indices": i, "length": i + 1 if self.causal else self.n}
        return self.filled([own.get(op["op"], UNKNOWN) for op in self.ops])

    def filled(self, found: list[Any]) -> Labels:
        """The values, with those that are functions of known values."""
        self.R.spend(len(found))
        for k, op in enumerate(self.ops):
            if op["op"] not in ("map", "linear", "sum"):
                continue
            given = (*(found[o] for o in op["of"]),)
            if UNKNOWN in given or "None" in given:
                found[k] = UNKNOWN if UNKNOWN in given else "None"
            elif op["op"] == "map":
                require(given in self.tables[k], f"operation {k} has no value at {given!a:.200}")
                found[k] = self.tables[k][given]
            else:
                found[k] = self.R.dot([*map(number, op["factors"])], [*map(number, given)])
        return (*found,)

    def occurring(self, found: Iterable[Token], before: Labels) -> list[Token]:
        """The tokens whose sums are numbers of positions, from 0 to the number of all positions.

        The selectors of sums that are known, and were not `before`, are first checked.
        """
        [*found] = found
        for k, op in enumerate(self.ops):
            if op["op"] == "sum" and found[0].labels[k] is not UNKNOWN:
                if before[k] is UNKNOWN:
                    require(self.adds_up(op, found), "the selectors of a sum do not add up")
                most = {t: t.place + 1 if self.causal else self.n for t in found}
                found = [t for t in found if 0 <= t.labels[k] <= most[t]]
        return found

    def selects(self, k: int | None, key: Labels, query: Labels) -> bool:
        """Whether selector k holds for the values at a key and at a query; None: always."""
        held = dict[int | None, bool]({None: True})
        for part in self.inside[k]:
            if (op := self.ops[part])["op"] == "select":
                held[part] = self.holds(part, key[op["keys"]], query[op["queries"]])
            else:
                found = [held[each] for each in op["of"]]
                held[part] = {"and": all(found), "or": any(found), "not": not found[0]}[op["op"]]
        self.R.spend(len(held))
        return held[k]

    def holds(self, k: int, key: Any, query: Any) -> bool:
        require(UNKNOWN not in (key, query), f"operation {k} is read before it is computed")
        if not isinstance(by := self.ops[k]["pairs"], str):
            return (key, query) in self.pairs[k]
        if by in ("true", "false"):
            return by == "true"
        return "None" not in (key, query) and COMPARED[by](key, query)

    def sides(self, k: int | None, side: str) -> list[int]:
        """The operations whose values selector k reads at keys, or at queries."""
        return [op[side] for op in (self.ops[part] for part in self.inside[k]) if side in op]

    def adds_up(self, op: Any, known: Iterable[Token]) -> bool:
        """Whether the selectors of a sum add up to its own selector, for all keys and queries."""
        parts = [(-1, op["selector"])]
        for factor, k in zip(op["factors"], op["of"], strict=True):
            require(self.ops[k]["op"] in ("width", "sum"), "a sum is not one of widths")
            parts.append((factor, self.ops[k]["selector"]))
        keys, queries = (
            {(*(t.labels[o] for _, k in parts for o in self.sides(k, side)),): t for t in known}
            for side in ("keys", "queries")
        )
        return not any(
            sum(factor * self.selects(k, a.labels, b.labels) for factor, k in parts)
            for a, b in product(keys.values(), queries.values())
        )

    def alike(self, k: int, of: int, known: list[Token]) -> bool:
        """Whether all keys that selector k selects certainly have one value of operation `of`.

        It is so if the keys are widths of a selector r that is a strict weak order of all tokens
        that may stand at different positions, and if equivalent tokens have one value: tokens that
        are not equivalent have different widths.
        """
        op = self.ops[k]
        if op["op"] == "and":
            return any(self.alike(part, of, known) for part in op["of"])
        if self.causal or op["op"] != "select" or op["pairs"] != "==":
            return False
        if (width := self.ops[op["keys"]])["op"] not in ("width", "sum"):
            return False
        r = width["selector"]
        read = [of, *self.sides(r, "keys"), *self.sides(r, "queries")]
        every = {(t.place, *(t.labels[o] for o in read)): t for t in known}.values()
        before = [[self.selects(r, a.labels, b.labels) for a in every] for b in every]
        rank = [sum(row) for row in before]
        return all(
            found == (rank_a < rank_b) and (rank_a != rank_b or a.labels[of] == b.labels[of])
            for b, rank_b, row in zip(every, rank, before, strict=True)
            for a, rank_a, found in zip(every, rank, row, strict=True)
            if a is b or a.place != b.place
        )


class Attended:
    """What a head does if `known` are the tokens that may stand after BOS in n tokens.

    `does` are the operations that the head computes, with columns of the stream.  `gaps` are its
    differences of scores, `bos` is what it adds to BOS, and `after` contains for each token the
    possible pairs of a value and an entry of the column, for all of these operations.
    """

    def __init__(
        self, of: Program, known: list[Token], bos: Any, head: Any, does: list[Any]
    ) -> None:
        R, self.of, self.mask, self.gaps = of.R, of, head["mask"], set[Any]()
        self.ops, self.columns = [of.ops[k] for k, _ in does], [column for _, column in does]
        self.counts = self.ops[0]["op"] != "mean"
        kinds = {op["op"] for op in self.ops}
        require(kinds <= {"width", "length"} or kinds == {"mean"}, f"a head computes {kinds}")
        rows = [*(token.row for token in known), bos]
        self.Q, self.K = (R.affine(rows, head[W], head[f"b_{W}"]) for W in "QK")
        *moved, self.bos = R.mul(rows, head["V"], head["O"])
        others = {*range(len(bos))} - {*self.columns}
        alone = not any(row[c] for row in (*moved, self.bos) for c in others)
        require(alone and len({*self.columns}) == len(does), "a head writes other columns")
        self.selectors = {op.get("selector") for op in self.ops}  # None for the length
        self.alike = [self.counts or of.alike(op["selector"], op["of"], known) for op in self.ops]
        keys, queries = (
            [op for k in self.selectors for op in of.sides(k, side)] for side in ("keys", "queries")
        )
        views = [  # what the head reads of tokens as keys
            (
                (*(token.labels[op] for op in keys),),
                (*k,),
                (*(self.entry(token, row, at) for at in range(len(does))),),
            )
            for token, k, row in zip(known, self.K, moved, strict=False)
        ]
        self.at: list[dict[Any, Labels]] = [{} for _ in range(of.n)]
        for token, view in zip(known, views, strict=True):
            self.at[token.place][view] = token.labels
        if self.mask == "full":  # BOS attends to itself
            last = R.dot(self.Q[-1], self.K[-1])
            self.gaps |= {last - R.dot(self.Q[-1], k) for k in {(*k,) for k in self.K[:-1]}}
        self.after, cache = list[Any](), dict[Any, Any]()
        for token, q, view in zip(known, self.Q, views, strict=False):
            asks = token.place, (*(token.labels[op] for op in queries),), (*q,), view
            if asks not in cache:
                cache[asks] = self.outcomes(token, q, view)
            self.after.append(cache[asks])
        require(min(self.gaps, default=1) > 0, "a head may attend to another token")

    def entry(self, token: Token, row: Any, at: int) -> tuple[Any, Any]:
        """The value of a token that is averaged, and its entry of the column."""
        return 0 if self.counts else token.labels[self.ops[at]["of"]], row[self.columns[at]]

    def outcomes(self, token: Token, q: Any, own: Any) -> set[Any]:
        """The possible pairs of a value and an entry, for all operations, at a token."""
        i, of = token.place, self.of
        end = {"full": of.n, "causal": i + 1, "strictly causal": i}[self.mask]
        require(not of.causal or end <= i + 1, "a head of a causal program is not causal")
        certain, most, scores, others, brought = 0, 0, set[Any](), set[Any](), set[Any]()
        for j in range(i + 1 if of.causal else of.n):
            entries = set[bool]()
            for view, labels in [(own, token.labels)] if j == i else self.at[j].items():
                selected = {of.selects(k, labels, token.labels) for k in self.selectors}
                require(len(selected) == 1, "a head has different selectors")
                entries |= selected
                if j < end:
                    (scores if True in selected else others).add(of.R.dot(q, view[1]))
                    brought |= {view[2]} if True in selected else set()
            require(j < end or True not in entries, "a selected token is masked")
            certain, most = certain + (False not in entries), most + (True in entries)
        zero = of.R.dot(q, self.K[-1])
        require(len(scores) < 2, "selected tokens have different scores")
        require(not self.counts or scores <= {zero}, "BOS has another score than selected tokens")
        self.gaps |= {s - other for s in scores for other in (*others, *[zero][self.counts :])}
        self.gaps |= {zero - other for other in others if self.counts or not certain}
        found = set[Any]()
        for w in range(certain, most + 1):
            choices = [self.averages(at, w, brought) for at in range(len(self.ops))]
            of.R.spend(prod(map(len, choices)))
            found |= {*product(*choices)}
        return found

    def averages(self, at: int, w: int, brought: Any) -> set[Any]:
        """The possible pairs of a value and an entry of one operation after w tokens."""
        bos, pairs = self.bos[self.columns[at]], {each[at] for each in brought}
        require(len(held := dict(pairs)) == len(pairs), "one value has different entries")
        if self.counts:
            return {(w, whole(Fraction(bos + w * held.get(0, 0)) / (w + 1)))}
        if w == 0:
            return {(self.ops[at]["default"], bos)}
        if self.alike[at] or w == 1 or len(held) == 1:
            return pairs
        low, high = min(map(number, held)), max(map(number, held))
        slope = Fraction(held[high] - held[low]) / (high - low)
        line = {(v, held[low] + slope * (v - low)) for v in held}
        require(pairs == line, "different values may be averaged whose entries are not affine")
        over = lcm(*(Fraction(v - low).denominator for v in held))
        unit = Fraction(gcd(*(int((v - low) * over) for v in held)), over * w)
        self.of.R.spend(most := int((high - low) / unit))
        means = (low + unit * m for m in range(most + 1))
        return {(whole(v), whole(held[low] + slope * (v - low))) for v in means}


def add(*rows: Any) -> tuple[Any, ...]:
    return (*map(sum, zip(*rows, strict=True)),)


def after(of: Program, known: list[Token], heads: list[Attended], does: list[Any]) -> list[Token]:
    """All tokens that may result from the heads of a layer."""
    found = set[Token]()
    for at, token in enumerate(known):
        for brought in product(*(head.after[at] for head in heads)):
            labels, row = [*token.labels], [*token.row]
            for (op, column), (value, entry) in zip(does, sum(brought, ()), strict=True):
                labels[op], row[column] = value, row[column] + entry
            found.add(Token(token.place, of.filled(labels), (*row,)))
            require(len(found) < MOST_CONTENTS, "its contents are too many", TooLarge)
    return of.occurring(found, known[0].labels)


def followed(of: Program, spec: Any, gaps: Any, margins: Any) -> int:
    """Follows all sequences of n tokens, adding to the gaps by layer and to the margins of logits.

    Returns the number of contents after the last layer.
    """
    R, model, symbols, answers = of.R, spec["model"], spec["tokens"], spec["answers"]
    first, *places = model["positions"] or [[0] * len(model["embed"][0])] * (of.n + 1)
    require(len(places) >= of.n and len(model["embed"]) == len(symbols) + 1, "rows are missing")
    bos = add(model["embed"][-1], first)
    known = [
        Token(i, of.at(i, symbol), add(row, places[i]))
        for i in range(of.n)
        for symbol, row in zip(symbols, model["embed"], strict=False)
    ]
    known = of.occurring(known, (UNKNOWN,) * len(of.ops))
    for block, layer, apart in zip(model["blocks"], spec["layers"], gaps, strict=True):
        pairs = zip(block["heads"], layer, strict=True)
        heads = [Attended(of, known, bos, head, does) for head, does in pairs]
        apart |= {gap for head in heads for gap in head.gaps}
        known = after(of, known, heads, [pair for does in layer for pair in does])
        bos = add(bos, *(head.bos for head in heads))
        for mlp in block["mlp"]:
            rows = [*(token.row for token in known), bos]
            hidden = [[max(x, 0) for x in row] for row in R.affine(rows, mlp["in"], mlp["b_in"])]
            *rows, bos = map(add, rows, R.affine(hidden, mlp["out"], mlp["b_out"]))
            known = [t._replace(row=row) for t, row in zip(known, rows, strict=True)]
    for token in known:
        require((value := token.labels[-1]) is not UNKNOWN, "no head computes the program")
        require(value in answers, f"{value!a:.99} is not among the answers")
        (logits,) = R.affine([token.row], model["unembed"], model["b_unembed"])
        right = logits[at := answers.index(value)]
        margins.add(right - max((*logits[:at], *logits[at + 1 :]), default=right - 1))
    return len(known)


def program(spec: Any, work: int) -> dict[str, Any]:
    of, layers, L = Program(Exact(work), spec), spec["layers"], spec["length"]
    for names in (spec["tokens"], spec["answers"], of.ops):
        require(len(names) > 0, "there are no tokens, answers or operations")
    for names in (spec["tokens"], spec["answers"]):
        require(len({*names}) == len(names), "a token or an answer is given twice")
    gaps, margins, most = [set[Any]() for _ in layers], set[Any](), 0
    for n in range(L if of.causal else 1, L + 1):
        of.n = n
        most = max(most, followed(of, spec, gaps, margins))
    require(min(margins) > 0, "another answer may be given")
    least = [str(min(layer, default=0)) for layer in gaps]
    return {"gaps": least, "margin": str(min(margins)), "contents": most}


def computed(spec: Any, work: int = MOST_WORK) -> dict[str, Any]:
    """The evidence of a statement; raises ArithmeticError if it is wrong or has no meaning."""
    try:
        found, text = program(read(spec), work), json.dumps(spec, sort_keys=True).encode()
    except (LookupError, TypeError, ValueError, RecursionError) as error:
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
    if "programs" not in fields:
        others = [f"use {CHECKERS[each]}.py for its {each}" for each in fields if each in CHECKERS]
        raise ValueError("; ".join(["it has no field 'programs'", *others]))
    require({*fields} <= {"claim", *CHECKERS}, f"of its fields {fields!a:.300} not all are known")
    require(isinstance(file["programs"], list) and file["programs"] != [], "it has no programs")
    for one in file["programs"]:
        spec, evidence = one["statement"], one["evidence"]
        require(len(one) == 2, f"besides statement and evidence, {[*one]!a:.300} has more")
        found = computed(spec)
        same = json.dumps(found, sort_keys=True) == json.dumps(evidence, sort_keys=True)
        require(same, f"the evidence is {evidence!a:.200}, not that of this statement, {found}")
        yield SENTENCE.format(many=len(spec["tokens"]), count=len(spec["operations"]), **spec)


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # a closed pipe, as of `| head`, ends the command
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        try:
            if len(sys.argv) != 2 or not isfile(sys.argv[1]):  # a pipe would be waited for
                raise ValueError("give one existing regular file: python program_checker.py FILE")
            with open(sys.argv[1], "rb") as file:
                for sentence in verified(file.read(MOST_BYTES + 1)):
                    print(f"verified: {sentence}", flush=True)
        except Exception as error:
            wrong, own = isinstance(error, ArithmeticError), isinstance(error, ValueError)
            what = str(error) if wrong or own else ascii(error)
            print(f"{'wrong' if wrong else 'cannot read programs'}: {what:.500}", flush=True)
            sys.exit(1 if wrong else 2)
    except OSError as error:
        sys.stdout = sys.stderr  # at the end, Python would write to the other again
        print(f"cannot write the output: {error}")
        sys.exit(2)
