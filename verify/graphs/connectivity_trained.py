"""The claim `connectivity-trained`: what a layer learns from graphs within and beyond capacity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from theory.graphs import (
    beyond,
    connected,
    erdos_renyi,
    orthogonal_split,
    two_chain,
    two_channels,
    two_clique,
)
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import models_of
from verify.finding import Finding, Verdict, at_least, at_most, labelled

if TYPE_CHECKING:
    from constructions.transformer import Transformer

N, P = 8, 0.2  # of the graphs of training
KIND = "transformer trained on connectivity"
TRAINED = {
    ("channels", 1): ("within", "all", "beyond"),
    ("dense", 1): ("within", "all"),
    ("small", 1): ("within", "all"),
    ("small", 2): ("within", "all"),
}
"""Presets and layers, and the graphs that each was trained on."""

# Stated before any of these models was looked at.
ALMOST = 0.99  # of graphs: right, for free weights
SMALL = 0.01  # of squared weights: in J where data are right; what depends on names of nodes
LEARNED = 0.5  # of graphs as in training: right, for a standard transformer
UNTRAINED = 0.1  # of graphs: right at most, without training
BY_NAME = 0.5  # of squared weights: what depends on names at least, without training

QUICK = 200  # graphs of a kind in a quick run
AT_ONCE = 1024  # graphs


class Right(NamedTuple):
    """Shares of graphs of which a model is right about all pairs: of graphs as in its training, of
    ER graphs within and beyond distance 3, and of all labellings of 2Chain and 2Clique."""

    own: float
    within: float
    beyond: float
    two_chain: float
    two_clique: float

    def __str__(self) -> str:
        own, within, beyond, chain, clique = (f"{share:.1%}" for share in self)
        return f"{own} (within 3 {within}, beyond {beyond}, 2Chain {chain}, 2Clique {clique})"


class Parts(NamedTuple):
    """Shares of the squared weights W and C: J's, n²‖B‖² beside n‖A‖² in A ⊗ I + B ⊗ J; and, of the
    orthogonal split, what is off the diagonals and what depends on names."""

    j: float
    off_diagonal: float
    rest: float

    def __str__(self) -> str:
        return f"J {self.j:.4f}, off the diagonals {self.off_diagonal:.4f}, rest {self.rest:.4f}"


@dataclass(frozen=True)
class Trial:
    """Graphs that models are tried on: fresh ones, and all labellings of 2Chain and 2Clique."""

    fresh: np.ndarray
    two_chain: np.ndarray
    two_clique: np.ndarray

    @staticmethod
    def of(run: Run, samples: int) -> Trial:
        chains, cliques = labellings(two_chain(N)), labellings(two_clique(N))
        if run.quick:
            samples, chains = min(samples, QUICK), run.rng.permutation(chains)[:QUICK]
        return Trial(erdos_renyi(samples, N, P, run.rng), chains, cliques)

    def right(self, model: Transformer, graphs: str) -> Right:
        """The shares of a model that was trained on `graphs`."""
        fresh, chain, clique = (
            all_right(model, A) for A in (self.fresh, self.two_chain, self.two_clique)
        )
        far = beyond(self.fresh, 1).any((-1, -2))
        own = {"within": fresh[~far], "all": fresh, "beyond": fresh[far]}
        shares = (own[graphs], own["within"], own["beyond"], chain, clique)
        return Right(*(float(share.mean()) for share in shares))


def all_right(model: Transformer, A: np.ndarray) -> np.ndarray:
    """Whether a model is right about all pairs of each graph of A (m, n, n), (m,)."""
    said = np.concatenate(
        [model(part).numpy() for part in np.split(A, range(AT_ONCE, len(A), AT_ONCE))]
    )
    return np.asarray((said == connected(A)).all((-1, -2)))


class Seen(NamedTuple):
    """A model and what was seen of it; `parts` are those of disentangled ones."""

    name: str
    model: Transformer
    right: Right
    parts: Parts | None = None


Seeds = Mapping[str, list[Seen]]  # by the graphs of their training


@claim(
    source="[Ye2026], second hand; the models: constructions/trained/disentangled.py", draws=True
)
def connectivity_trained(
    run: Run, *, samples: Annotated[int, option("fresh graphs", min=100)] = 2000
) -> Iterator[Finding]:
    """Trained on graphs within its capacity, one layer learns who is connected; on others, to
    count.

    On graphs ER(8, 0.2), one disentangled layer, whose capacity is distance 3.  If all connected
    nodes of the training graphs are as near, two non-negative channels A ⊗ I + B ⊗ J come out with
    hardly any J and are right about fresh graphs of the kind, 2Chain and 2Clique.  If not, J is
    larger and 2Clique wrong.  Free weights find the two channels unaided, and fail on 2Clique, too,
    if trained on all graphs.  Which data are right depends on depth: of standard transformers one
    layer learns 2Chain better from graphs within distance 3, while two, to whose 9 all graphs of 8
    nodes are near, learn graphs beyond it better from all.

    A graph is right if all its pairs are.  2Chain and 2Clique come in all 5040 and 35 labellings.
    There are three seeds of everything and each is told; of how weights move in training, which
    [Ye2026] has theorems on, nothing is said.
    """
    trial = Trial.of(run, samples)
    seen = {which: looked_at(which, trial) for which in TRAINED}
    yield from two_channels_findings(seen["channels", 1])
    yield from free_findings(seen["dense", 1])
    yield from standard_findings(seen["small", 1], seen["small", 2])
    yield from untrained_findings(trial)
    if run.plot:
        from verify.graphs.connectivity_trained_picture import draw

        draw(run.plot, seen)


def two_channels_findings(by: Seeds) -> Iterator[Finding]:
    """Right about everything with hardly any J; with other data J is larger and 2Clique wrong."""
    for each in by["within"]:
        yield from labelled(each.name, [learns(each, 1.0), *families(each, 1.0), little_j(each)])
    yield from other_data(by)


def free_findings(by: Seeds) -> Iterator[Finding]:
    """The two channels are found unaided, with hardly any J where data are right."""
    for each in by["within"]:
        chain, _ = families(each, ALMOST)
        yield from labelled(each.name, [learns(each, ALMOST), chain, little_j(each)])
    yield from other_data(by)
    for each in (*by["within"], *by["all"]):
        yield from labelled(each.name, [unaided(each)])


def other_data(by: Seeds) -> Iterator[Finding]:
    """What all models that were trained on other graphs than those within capacity have in common,
    beside all that were."""
    least = min(each.right.own for each in by["within"])
    most = max(each.parts.j for each in by["within"])
    for each in (seed for kind in by if kind != "within" for seed in by[kind]):
        fewer = Finding(
            "graphs",
            "right about fewer graphs as in training than with right data",
            "trained",
            each.right.own,
            least,
            Verdict.of(each.right.own < least),
            words=str(each.right),
            wanted=f"below {least:.1%}",
        )
        wrong = at_most(
            "two-clique",
            "wrong about 2Clique",
            "trained",
            each.right.two_clique,
            0.0,
            words=f"{each.right.two_clique:.1%} of its labellings are right",
            wanted="none",
        )
        larger = Finding(
            "J",
            "a larger J than with right data",
            "trained",
            each.parts.j,
            most,
            Verdict.of(each.parts.j > most),
            words=str(each.parts),
            wanted=f"J above {most:.4f}",
        )
        yield from labelled(each.name, [fewer, wrong, larger])


def learns(each: Seen, least: float) -> Finding:
    """Right about fresh graphs as in training."""
    return at_least(
        "graphs",
        "right about fresh graphs as in training",
        "trained",
        each.right.own,
        least,
        words=str(each.right),
        wanted=f"at least {least:.0%}",
    )


def families(each: Seen, least: float) -> Iterator[Finding]:
    """Right about 2Chain and about 2Clique."""
    for id, name, share in (
        ("two-chain", "2Chain", each.right.two_chain),
        ("two-clique", "2Clique", each.right.two_clique),
    ):
        yield at_least(
            id,
            f"right about {name}",
            "trained",
            share,
            least,
            words=f"{share:.1%} of its labellings",
            wanted=f"at least {least:.0%}",
        )


def little_j(each: Seen) -> Finding:
    """Hardly any of the squared weights is J's."""
    return at_most(
        "J",
        "hardly any J",
        "trained",
        each.parts.j,
        SMALL,
        words=str(each.parts),
        wanted=f"J at most {SMALL:g}",
    )


def unaided(each: Seen) -> Finding:
    """Hardly any of the squared weights depends on the names of nodes."""
    return at_most(
        "channels",
        "two channels, with nothing imposed",
        "trained",
        each.parts.rest,
        SMALL,
        words=str(each.parts),
        wanted=f"rest at most {SMALL:g}",
    )


def standard_findings(one: Seeds, two: Seeds) -> Iterator[Finding]:
    """Each seed is told; over seeds, which data are the better depends on depth."""
    for each in (seed for by in (one, two) for seeds in by.values() for seed in seeds):
        yield from labelled(each.name, [learns(each, LEARNED)])
    for id, name, better, worse in (
        (
            "one-layer",
            "one layer is right about 2Chain more often if trained within distance 3",
            [each.right.two_chain for each in one["within"]],
            [each.right.two_chain for each in one["all"]],
        ),
        (
            "two-layers",
            "two layers are right about graphs beyond distance 3 more often if trained on all",
            [each.right.beyond for each in two["all"]],
            [each.right.beyond for each in two["within"]],
        ),
    ):
        yield Finding(
            f"standard/{id}",
            f"standard: {name}",
            "trained",
            min(better),
            max(worse),
            Verdict.of(min(better) > max(worse)),
            words=f"{_shares(better)}, beside {_shares(worse)}",
            wanted="whichever seeds are compared",
        )


def untrained_findings(trial: Trial) -> Iterator[Finding]:
    """The control: the same models before training."""
    from constructions.trained import configuration_of, untrained

    for preset, layers in TRAINED:
        made = configuration_of(f"{prefix(preset, layers)}-all-seed0")
        model = untrained(made).requires_grad_(False)
        right = trial.right(model, "all")
        label = f"untrained-{preset}-{layers}"
        yield at_most(
            f"{label}/graphs",
            f"{label}: right about hardly a graph",
            "trained",
            right.own,
            UNTRAINED,
            words=str(right),
            wanted=f"at most {UNTRAINED:.0%}",
        )
        if preset == "dense":
            parts = parts_of(model)
            yield at_least(
                f"{label}/channels",
                f"{label}: no two channels",
                "trained",
                parts.rest,
                BY_NAME,
                words=str(parts),
                wanted=f"rest at least {BY_NAME:g}",
            )


def looked_at(which: tuple[str, int], trial: Trial) -> Seeds:
    """Every seed of a preset with so many layers, by the graphs of its training."""
    preset, _ = which
    kind = f"a {'softmax' if preset == 'small' else 'disentangled'} {KIND}"
    return {
        graphs: [
            Seen(
                name,
                model,
                trial.right(model, graphs),
                parts_of(model) if preset != "small" else None,
            )
            for name, model, _ in models_of(f"{prefix(*which)}-{graphs}", kind)
        ]
        for graphs in TRAINED[which]
    }


def prefix(preset: str, layers: int) -> str:
    """What checkpoints are called before the graphs of their training."""
    return f"connectivity-{preset}-{layers}-layer{'s' * (layers > 1)}"


def labellings(graph: np.ndarray) -> np.ndarray:
    """All graphs (m, n, n) that are this one (n, n) up to the names of nodes."""
    orders = np.array([*permutations(range(len(graph)))])
    named = graph[orders[:, :, None], orders[:, None, :]]
    _, first = np.unique(np.packbits(named.reshape(len(named), -1), 1), axis=0, return_index=True)
    return named[first]


def grids_of(model: Transformer) -> list[np.ndarray]:
    """W of every layer and the read-out C, as the model's tensors have them."""
    scores = [attn.W_K[0].mT @ attn.W_Q[0] for attn in model.attentions]
    return [W.detach().double().numpy() for W in (*scores, model.unembed.W_U)]


def parts_of(model: Transformer) -> Parts:
    """What stands in which channel."""
    n, grids = model.interface.n, grids_of(model)
    channels = [two_channels(W, n) for W in grids]
    in_I, in_J = (  # ‖A ⊗ I‖² and ‖B ⊗ J‖²
        size * sum(float((pair[part] ** 2).sum()) for pair in channels)
        for part, size in ((0, n), (1, n * n))
    )
    splits = np.array([orthogonal_split(W, n) for W in grids]).sum(0)
    _, off_diagonal, rest = splits / splits.sum()
    return Parts(in_J / (in_I + in_J), float(off_diagonal), float(rest))


def _shares(values: list[float]) -> str:
    return ", ".join(f"{value:.1%}" for value in values)
