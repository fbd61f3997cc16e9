"""What a construction has to compute, and the comparison with it on sequences of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.retrieval.sequences import adversarial_sequences, all_sequences, random_sequences
from verify.claim import Run
from verify.domains import Domain, Rational, outputs
from verify.finding import Finding, Verdict

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel

PAIRS = 2_000_000  # pairs of tokens whose scores are held at once
FLOAT64_BITS = 53

Registers = Mapping[tuple[int, str], np.ndarray]


@dataclass(frozen=True)
class Task:
    """A construction at every size beside its definition.

    build      (vocabulary size, longest sequence) → the model, with the planted fault if any
    answers    tokens (…, T) → answers (…, T), −1 for ⊥: the definition
    registers  (model, tokens (…, T)) → what the proof says stands in a register after a layer, at
               the tokens (…, T, width), the prefix left out
    """

    label: str
    build: Callable[[int, int], SequenceModel]
    answers: Callable[[np.ndarray], np.ndarray]
    registers: Callable[[SequenceModel, np.ndarray], Registers]


def agreement(
    run: Run, task: Task, V: int, n: int, samples: int, exhaustive: tuple[int, int] = (4, 6)
) -> Iterator[Finding]:
    """Equal to the definition: on all short sequences, on random and adversarial ones, over Q."""
    most, longest = (3, 4) if run.quick else exhaustive
    counted, wrong = 0, None
    for v in range(1, most + 1):
        short = all_sequences(longest, v)
        # Without BOS in front a model could tell lengths apart, so all of them are run.
        for T in range(1, longest + 1):
            part = short[:: v ** (longest - T), :T]
            counted += len(part)
            wrong = wrong or first_difference(task, task.build(v, longest), part)
    yield equal(
        f"{task.label}: every sequence of at most {longest} tokens, at most {most} symbols",
        f"all answers equal on {counted} sequences",
        wrong,
        exact_evidence(task.build(most, longest)),
    )

    model, families = task.build(V, n), families_of(run, V, n, samples)
    wrong = None
    for rows in run.progress(list(families.values()), task.label):
        wrong = wrong or first_difference(task, model, rows)
    sequences = sum(map(len, families.values()))
    yield equal(
        f"{task.label}: random and adversarial sequences of {n} tokens, {V} symbols",
        f"all answers equal on {sequences} sequences of {len(families)} families",
        wrong,
        exact_evidence(model),
    )

    length = min(n, 32 if run.quick else 128)
    model = task.build(V, length)
    rows = np.concatenate([r[:1] for r in families_of(run, V, length, 2).values()])[:6]
    wrong = next((w for row in rows if (w := difference_over_q(task, model, row))), None)
    yield equal(
        f"{task.label}: over Q ({length} tokens, {V} symbols)",
        f"answers and float64 logits equal on {len(rows)} sequences",
        wrong,
        "exact",
    )

    rows = np.concatenate([r[:4] for r in families_of(run, V, length, 4).values()])
    expected = task.registers(model, rows)
    wrong = register_difference(model, rows, expected)
    yield equal(
        f"{task.label}: registers hold what the proof says ({length} tokens)",
        ", ".join(f"{name} after layer {after}" for after, name in expected),
        wrong,
        exact_evidence(model),
    )


def families_of(run: Run, V: int, n: int, samples: int) -> dict[str, np.ndarray]:
    """Random sequences and the adversarial families."""
    adversarial = adversarial_sequences(n, V, run.rng)
    return {"random": random_sequences(samples, n, V, run.rng), **adversarial}


def exact_evidence(model: SequenceModel) -> str:
    """Evidence of a float64 run: exact if no partial sum of it is rounded."""
    from constructions.retrieval.margins import exact_in

    return "exact" if exact_in(model).bits <= FLOAT64_BITS else "float"


def equal(name: str, measured: str, wrong: str | None, evidence: str) -> Finding:
    holds = wrong is None
    return Finding(
        name,
        evidence,  # type: ignore[arg-type]
        measured if holds else "they differ",
        "equal" if not holds else "",
        Verdict.of(holds),
        wrong or "",
    )


def first_difference(task: Task, model: SequenceModel, rows: np.ndarray) -> str | None:
    """None if all answers agree, else the shortest sequence on which they do not."""
    chunk = max(1, PAIRS // rows.shape[1] ** 2)
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk]
        differs = model(part).numpy() != task.answers(part)
        if differs.any():
            position = int(differs.any(0).argmax())
            row = part[int(differs[:, position].argmax()), : position + 1]
            return difference(task, model, row)
    return None


def difference(task: Task, model: SequenceModel, row: np.ndarray) -> str:
    """Both answers at the end of a sequence and the first register that differs."""
    try:
        got, wanted = int(model(row)[-1]), int(task.answers(row)[-1])
        where = register_difference(model, row[None], task.registers(model, row[None]))
    except ValueError:  # a model for one length only
        return f"{model.name} on {row.tolist()}"
    return (
        f"{model.name} on {row.tolist()}: answer {got}, by definition {wanted}\n"
        f"{where or 'no register differs: the read-out does'}"
    )


def register_difference(model: SequenceModel, rows: np.ndarray, expected: Registers) -> str | None:
    """The first layer and register, and the place, where the stream is not what it should be."""
    streams = list(model.streams(rows))
    prefix = len(model.prompt.prefix)
    for (after, name), wanted in sorted(expected.items(), key=lambda item: item[0][0]):
        held = streams[after][..., prefix:, model.stream[name]].double().numpy()
        differs = (held != wanted).any(-1)
        if differs.any():
            row, position = (int(i) for i in np.argwhere(differs)[0])
            return (
                f"after layer {after}, register {name}, token {position + 1} of "
                f"{rows[row].tolist()}: {held[row, position]}, should be {wanted[row, position]}"
            )
    return None


def difference_over_q(task: Task, model: SequenceModel, row: np.ndarray) -> str | None:
    """None if the rational logits give the right answers and are what torch computes."""
    from fractions import Fraction

    domain = Rational()
    logits = outputs(model, one_hot(model, row, domain), model.prompt.n_examples, domain).tolist()
    logits = logits[len(model.prompt.prefix) :]
    best = [max(range(len(line)), key=line.__getitem__) for line in logits]
    answers = [-1 if v == model.prompt.vocabulary_size else v for v in best]
    in_float = model.logits(row).tolist()
    same = all(
        float(Fraction(int(q.p), int(q.q))) == f
        for exact, rounded in zip(logits, in_float, strict=True)
        for q, f in zip(exact, rounded, strict=True)
    )
    if same and answers == task.answers(row).tolist():
        return None
    return f"{model.name} on {row.tolist()}: over Q {answers}, logits as in float64: {same}"


def one_hot(model: SequenceModel, row: np.ndarray, domain: Domain) -> Any:
    """The prompt as rows of the identity, as the generic forward pass takes it."""
    return domain.weights(np.eye(len(model.embed.W_E))[model.tokens(row).numpy()])
