"""How well methods of attribution find the circuits of models whose circuit is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.circuits import Node, circuit
from constructions.stock.lens import to_lens, under_one_mask
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, checked, shown
from theory.waiting import announced
from verify.ground_truth.cases import CASES, Case
from verify.ground_truth.decoys import is_decoy
from verify.ground_truth.hooked import Hooked, Link
from verify.ground_truth.methods import METHODS, Method
from verify.ground_truth.scores import auc, magnitudes, named
from verify.ground_truth.truth import Truth, deciding

PAIRS = 64  # of prompts, for each circuit and seed


def hooked(model: Transformer, pool: np.ndarray, seed: int, untrained: bool = False) -> Hooked:
    """The model in TransformerLens with random pairs of prompts of different answers.

    Prompts are drawn from the rows of `pool`. `untrained` replaces all weights by Gaussian ones of
    variance 1/(number of inputs).
    """
    prompt, logits = model.prompt(pool), model.logits(pool)
    answers = logits.argmax(-1).numpy()
    first, second = _pairs(answers, np.random.default_rng(seed))
    places = np.arange(prompt.tokens.shape[-1])[prompt.answers]
    shape = len(first), prompt.tokens.shape[-1], logits.shape[-1]
    weights = torch.zeros(*shape, dtype=torch.float64)
    for place, ours, theirs in zip(places, answers[first].T, answers[second].T, strict=True):
        differ = np.flatnonzero(ours != theirs)
        weights[differ, place, ours[differ]] = 1.0
        weights[differ, place, theirs[differ]] = -1.0
    bridge = to_lens(model)
    if untrained:
        randomise(bridge, seed)
    nodes, tokens = circuit(model).nodes, prompt.tokens
    return Hooked(bridge, nodes, tokens[first], tokens[second], weights, prompt.answers)


def randomise(bridge: Any, seed: int) -> None:
    """Replaces all weights of a bridge by independent Gaussian ones, and biases by 0."""
    drawn = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, W in bridge.named_parameters():
            if name.endswith("bias"):
                W.zero_()
            else:
                W.normal_(0.0, W.shape[-1] ** -0.5, generator=drawn)
        for name, b in bridge.named_buffers():
            if name.endswith("bias"):  # that of the unembedding
                b.zero_()


def _pairs(answers: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Indices of `PAIRS` clean and corrupted prompts with different answers at some token."""
    first, second = rng.integers(len(answers), size=(2, 100 * PAIRS))
    differ = (answers[first] != answers[second]).any(-1)
    if differ.sum() < PAIRS:
        raise InputError("nearly all prompts have the same answers: give another model or length")
    return first[differ][:PAIRS], second[differ][:PAIRS]


@dataclass(frozen=True)
class Result:
    """The scores of one method on one circuit with one seed.

    A method of edges names as many links as matter. `right`, `unused`, `absent` and `unnamed` are
    the expected fractions of these that matter, that exist but change no answer, that do not exist,
    and that it does not name since all further scores are 0; so `right` is the precision at the
    true size. For a method of nodes, the entries are the nodes' outputs at each token of each
    prompt, those that decide an answer are the true ones, and `absent` is the fraction of false
    ones. `auc` is the area under the ROC curve, `content` that of links whose source is not the
    positions, `null` that of the same method on a random model of the same shape, against the same
    truth, and `random` that of random scores. `decoys` is the expected fraction of the entries that
    it may name and that are about decoys (`verify.ground_truth.decoys`).
    """

    case: str
    method: str
    seed: int
    entries: int
    true: int
    auc: float
    content: float
    right: float
    unused: float
    absent: float
    unnamed: float
    null: float
    random: float
    decoys: float = 0.0


@checked
def benchmark(
    methods: Mapping[str, Method] | None = None,
    cases: Sequence[Case] | None = None,
    seeds: Count = 5,
) -> list[Result]:
    """The results of each method on each circuit, with pairs of prompts drawn from each seed.

    `methods` maps names to functions as in `methods.py`, by default all of `METHODS`, and `cases`
    is by default all of `CASES`. One line on standard error announces a run of more than a minute.
    Raises ValueError for a method that returns no scores, for scores of something else than links
    or nodes, for scores that are not finite, for a method that changes the model or the prompts in
    place, and if TransformerLens is not installed.
    """
    methods = METHODS if methods is None else methods
    for name, method in methods.items():
        if not callable(method):
            raise InputError(f"the method {name!r} is {shown(method)}: give a function")
    results = []
    for case in announced(CASES if cases is None else cases, "the circuits"):
        model = under_one_mask(case.model())
        pool = case.prompts()
        known = case.truth(model)
        for seed in range(seeds):
            both = [hooked(model, pool, seed, untrained) for untrained in (False, True)]
            of = both[0]
            kept = [[tensor.clone() for tensor in _tensors(each)] for each in both]
            decides = deciding(of, model.prompt(pool).tokens) if case.built is None else None
            false = {n for n in of.nodes if case.decoys is not None and is_decoy(n, model)}
            for name, method in methods.items():
                found, control = (_scores(name, method, each) for each in both)
                if any(not _equal(each, its) for each, its in zip(both, kept, strict=True)):
                    raise InputError(
                        f"the method {name!r} changes the model or the prompts that it gets: "
                        "change copies of them"
                    )
                if isinstance(next(iter(found)), Link):
                    scores = _of_links(of, found, control, known, false, seed)
                elif decides is not None:
                    scores = _of_nodes(of, found, control, decides, false, seed)
                else:
                    continue
                results.append(Result(case.name, name, seed, **scores))
    return results


def _tensors(of: Hooked) -> list[Tensor]:
    """The tensors that all methods get."""
    return [of.clean, of.corrupted, of.weights, *of.bridge.state_dict().values()]


def _equal(of: Hooked, kept: list[Tensor]) -> bool:
    return all(map(torch.equal, _tensors(of), kept))


def _scores(name: str, method: Method, of: Hooked) -> Any:
    """The scores of a method, if they are finite scores of links, or of all nodes."""
    try:
        found = method(of)
    except Exception as error:
        error.add_note(f"raised by the method {name!r}")
        raise
    if not isinstance(found, Mapping) or not found:
        raise InputError(
            f"the method {name!r} returns {shown(found)}: return a dictionary with a score for "
            "each link of `of.links`, or with scores (m, T) for each node of `of.sources`"
        )
    links = isinstance(next(iter(found)), Link)
    if wrong := [each for each in found if each not in (of.links if links else of.sources)]:
        raise InputError(
            f"the method {name!r} has a score for {shown(wrong[0])}: give scores of "
            + ("links of `of.links`" if links else "nodes of `of.sources`")
        )
    if not links and (absent := [str(node) for node in of.sources if node not in found]):
        raise InputError(
            f"the method {name!r} has no scores for {absent[0]}: give scores (m, T) for each node "
            "of `of.sources`"
        )
    shape = torch.Size([]) if links else of.clean.shape
    numbers = dict[Any, Any]()
    for entry, value in found.items():
        try:
            given = value if isinstance(value, Tensor) else torch.as_tensor(np.asarray(value))
            scores = given.detach().cpu()
        except (TypeError, ValueError):
            scores = torch.full(shape, torch.nan)
        if scores.shape != shape or scores.is_complex() or not scores.isfinite().all():
            raise InputError(
                f"the method {name!r} has a score of {entry} that is {shown(value)}: give finite "
                f"numbers of shape {tuple(shape)}"
            )
        numbers[entry] = float(scores) if links else scores.double()
    return numbers


def _of_links(
    of: Hooked, found: Any, control: Any, known: Truth, false: Set[Node], seed: int
) -> dict[str, Any]:
    true, exist = (
        np.array([link in these for link in of.links]) for these in (known.matter, known.exist)
    )
    content = np.array([link.source.kind != "positions" for link in of.links])
    decoys = np.array([not false.isdisjoint(link[:2]) for link in of.links])
    scores, null = (
        np.array([each.get(link, 0.0) for link in of.links]) for each in (found, control)
    )
    return _judged(scores, null, true, exist, content, decoys, seed)


def _of_nodes(
    of: Hooked, found: Any, control: Any, decides: Any, false: Set[Node], seed: int
) -> dict[str, Any]:
    true = np.stack([decides[node] for node in of.sources]).ravel()
    content = np.repeat([node.kind != "positions" for node in of.sources], of.clean.numel())
    scores, null = (
        torch.stack([each[node] for node in of.sources]).numpy().ravel()
        for each in (found, control)
    )
    decoys = np.repeat([node in false for node in of.sources], of.clean.numel())
    return _judged(scores, null, true, true, content, decoys, seed)


def _judged(
    found: np.ndarray,
    control: np.ndarray,
    true: np.ndarray,
    exist: np.ndarray,
    content: np.ndarray,
    decoys: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    """The fields of a result; all arrays have an element for each entry."""
    scores = magnitudes(found)
    chance = named(scores, int(true.sum())) / true.sum()
    return {
        "entries": len(true),
        "true": int(true.sum()),
        "auc": auc(scores, true),
        "content": auc(scores[content], true[content]),
        "right": float(chance[true].sum()),
        "unused": float(chance[exist & ~true].sum()),
        "absent": float(chance[~exist].sum()),
        "unnamed": float(max(0.0, 1 - chance.sum())),
        "null": auc(magnitudes(control), true),
        "random": auc(np.random.default_rng([seed, len(true)]).random(len(true)), true),
        "decoys": float(chance[decoys].sum()),
    }
