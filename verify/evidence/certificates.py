"""Certificates: statements with their evidence, for the four checkers of the package `verify`.

A file contains statements and their evidence.  A statement contains the weights that torch runs, as
exact numbers, and the sizes.  The checkers, which share no code with the rest of the library,
compute the evidence; a statement that they do not verify is not written.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from constructions.attention import Attention
from constructions.blocks import MLP
from constructions.transformer import Transformer
from theory.computation.cascade import Cascade, Table
from theory.kinds import InputError
from theory.regression import Start
from verify import checker, formula_checker, gap_checker, program_checker
from verify.claim import Run
from verify.evidence.statement import Case, OverTokens
from verify.output.files import deliver

POINTS = 2  # modulo primes of 61 bits: the probability that a difference is missed is below 2^−60
MOST_TERMS = 512  # of the powers of the residual that a recursion adds up
MOST_WORDS = 512  # sequences that the checker runs within seconds

CHECKERS = {  # by the kind of a statement; the field of the file, and the checker that reads it
    "polynomial": ("certificates", checker),
    "sequences": ("certificates", checker),
    "cascade": ("certificates", checker),
    "lookups": ("gaps", gap_checker),
    "formula": ("formulas", formula_checker),
    "program": ("programs", program_checker),
}

KINDS = {"flip-flop": "latch"}  # the file format's word for it, which does not change

Statement = dict[str, Any]


@dataclass(frozen=True)
class Recursion:
    """The recursion M ← (I + E + … + E^{order−1}) M with E = I − M S, where S = Xᵀ X.

    X (n × d) are the inputs of the examples. The recursion starts from M = αS or M = αI, as `start`
    states.

    Newton's method has order 2; k steps of gradient descent are one step of order k from αI.
    `words` describe the recursion.
    """

    words: str
    steps: int
    alpha: float
    start: Start = "gram"
    order: int = 2


def for_all_inputs(case: Case, of: Recursion) -> Statement:
    """Returns the statement that a model's last answer is q M Xᵀ y for all inputs.

    X (n × d) and y (n × 1) are the examples, the row q (1 × d) is the query, and M is the result of
    the recursion `of`.
    """
    model, d, n, prompt = case.model, case.d, case.n, case.prompt(case.symbols())
    return {
        "kind": "polynomial",
        "name": f"{model.name}: {of.words}, for all inputs (d = {d}, n = {n})",
        "d": d,
        "n": n,
        "steps": of.steps,
        "order": of.order,
        "start": of.start,
        "alpha": exactly(of.alpha),
        "prompt": [[str(entry) for entry in row] for row in prompt.tokens],
        "points": POINTS,
        "examples": prompt.n_examples,
        "model": weights(model),
    }


def certify(run: Run, case: Case, of: Recursion) -> None:
    """Adds the statements that a model computes a recursion for all inputs to the certificate.

    The statement about the formula is for all n; it requires d ≥ 2, so that the registers of
    vectors and of scalars have different widths. The statement about all inputs of one size is
    omitted if there is a statement about the formula, and the numbers of the former would have
    thousands of digits.
    """
    formula = case.of.formula and case.d > 1
    if formula:
        run.certify(lambda: by_formula(case, of))
    if not formula or of.order**of.steps <= MOST_TERMS:
        run.certify(lambda: for_all_inputs(case, of))


def by_formula(case: Case, of: Recursion) -> Statement:
    """Returns the statement that the formula of a model's prediction is that of the recursion `of`.

    The formula is xᵀ M b with S = XᵀX and b = Xᵀy, for all examples X and labels y and all queries
    x. The model consists of linear heads without MLPs, and d ≥ 2.
    """
    return {
        "kind": "formula",
        "name": f"{case.model.name}: {of.words}, for all n and inputs",
        "registers": [*case.model.stream.widths.values()],
        "steps": of.steps,
        "order": of.order,
        "start": of.start,
        "alpha": exactly(of.alpha),
        "model": weights(case.model),
    }


def on_all_sequences(
    of: OverTokens, symbols: int, definition: Mapping[str, Any], what: str
) -> Statement:
    """Returns the statement that a model's answers on all sequences of one length are as defined.

    The number of symbols is `symbols`, but at most three if the model can be built for any number
    of symbols. The length is the largest for which there are at most 512 sequences.
    """
    count = symbols if of.symbols else min(symbols, 3)
    length = next(T for T in range(9, 0, -1) if count**T <= MOST_WORDS or T == 1)
    model = of.at(count, length).model
    return {
        "kind": "sequences",
        "name": f"{model.name}: {what}, on all sequences of {length} of {count} symbols",
        "letters": count,
        "length": length,
        "prefix": list(model.interface.prefix),
        **definition,
        "examples": model.interface.n_examples,
        "model": weights(model),
    }


def by_gaps(
    of: OverTokens, symbols: int, hops: int, first: Literal["before", "behind"]
) -> Statement:
    """Returns the statement that a model follows `hops` lookups on all sequences up to a length.

    The evidence is the smallest score gap of each head.

    The length is 32 with at most eight symbols, or 16 with four symbols if several answers are
    combined; `first` is the first lookup of the program.
    """
    one_answer = hops.bit_count() == 1
    count, length = (min(symbols, 8), 32) if one_answer else (min(symbols, 4), 16)
    model = of.at(count, length).model
    return {
        "kind": "lookups",
        "name": f"{model.name}: hops, on all sequences of up to {length} of {count} symbols",
        "letters": count,
        "length": length,
        "hops": hops,
        "first": first,
        "model": weights(model),
    }


def for_every_length(of: Cascade) -> Statement:
    """Returns the statement that a cascade simulates its automaton, for words of every length."""

    def table(given: Table) -> dict[str, Any]:
        rows = {" ".join(map(str, key)): value for key, value in given.rows.items()}
        return {"reads": list(given.reads), "rows": rows}

    stages = [
        {
            "kind": KINDS.get(stage.kind, stage.kind),
            "size": stage.size,
            "first": stage.first,
            **table(stage.table),
        }
        for stage in of.stages
    ]
    return {
        "kind": "cascade",
        "name": f"the cascade of {of.automaton.name}, for words of every length",
        "automaton": [list(row) for row in of.automaton.transitions],
        "start": of.automaton.start,
        "stages": stages,
        "answer": table(of.answer),
    }


def write_certificate(path: Path, claim: str, statements: Iterable[Statement]) -> list[str]:
    """Writes the statements with their evidence to a file, and returns lines that describe it.

    The lines contain the names of the statements and the commands that check them.

    Raises ValueError for a statement that does not hold, or a file that cannot be written.
    """
    made: dict[str, Any] = {"claim": claim}
    lines, commands = [f"written: {path}"], dict[str, None]()
    for statement in statements:
        field, by = CHECKERS[statement["kind"]]
        try:
            evidence = by.computed(statement)
        except ArithmeticError as wrong:
            raise InputError(
                f"{statement['name']} has no certificate: {wrong}; give smaller sizes, or correct "
                "the statement"
            ) from None
        made.setdefault(field, []).append({"statement": statement, "evidence": evidence})
        lines.append(f"  {field}: {statement['name']}")
        script = f"{by.__name__.replace('.', '/')}.py"
        commands[f"python {script} {shlex.quote(str(path))}"] = None
    text = f"{json.dumps(made, indent=1)}\n".encode()
    if len(text) > checker.MOST_BYTES:
        raise InputError(
            f"the certificate has {len(text)} bytes, and the checkers read at most "
            f"{checker.MOST_BYTES}: choose smaller sizes"
        )
    deliver(path, text)
    return [*lines, f"check with: {' && '.join(commands)}"]


def exactly(number: float) -> str:
    """Returns a float as text: the exact fraction, such as "-3/64"."""
    return str(Fraction(number))


def _rows(weights: Tensor) -> Any:
    array = weights.detach().cpu().double().numpy()
    return np.vectorize(exactly, otypes=[object])(array).tolist() if array.size else array.tolist()


def weights(model: Transformer) -> Statement:
    """Returns the weights of a model as exact numbers.

    Raises ValueError for a model with normalisation layers, or with scaled scores.
    """
    normed = any(b.norm or b.ln1 or b.ln2 for b in model.blocks) or model.ln_final
    if normed or any(attn.scale != 1 for attn in model.attentions):
        raise InputError(
            f"{model.name} normalises the stream or scales its scores, which certificates cannot "
            "express: give a model without normalisation layers and with scores of scale 1"
        )
    b_U, positions = model.unembed.b_U, model.pos_embed
    return {
        "embed": _rows(model.embed.W_E),
        "positions": [] if positions is None else _rows(positions.W_pos),
        "blocks": [{"heads": _heads(block.attn), "mlp": _mlp(block.mlp)} for block in model.blocks],
        "unembed": _rows(model.unembed.W_U),
        "b_unembed": ["0"] * model.unembed.W_U.shape[1] if b_U is None else _rows(b_U),
    }


def fingerprint(model: Transformer) -> str:
    """A hash of the weights, and of the normalisation, masks and scale of each layer."""
    found = sha256()
    for name, W in model.state_dict().items():
        found.update(f"{name} {W.dtype} {tuple(W.shape)} ".encode())
        found.update(W.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    for attn in model.attentions:
        found.update(f"{attn.normalise} {attn.masks} {attn.scale} ".encode())
    return found.hexdigest()


def _heads(attn: Attention | None) -> list[Statement]:
    if attn is None:
        return []
    names = {"Q": "W_Q", "K": "W_K", "V": "W_V", "O": "W_O", "b_Q": "b_Q", "b_K": "b_K"}
    return [
        {
            "rule": attn.normalise,
            "mask": mask,
            **{name: _rows(getattr(attn, tensor)[h]) for name, tensor in names.items()},
        }
        for h, mask in enumerate(attn.masks)
    ]


def _mlp(mlp: MLP | None) -> list[Statement]:
    if mlp is None:
        return []
    names = {"in": "W_in", "b_in": "b_in", "out": "W_out", "b_out": "b_out"}
    return [{name: _rows(getattr(mlp, tensor)) for name, tensor in names.items()}]
