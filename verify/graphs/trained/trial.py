"""Models trained on graphs: their accuracies by graphs, and the weights in each channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from constructions.trained import configuration_of, untrained
from constructions.transformer import Transformer
from theory.graphs import (
    beyond,
    connected,
    erdos_renyi,
    labellings,
    orthogonal_split,
    two_chain,
    two_channels,
    two_clique,
)
from verify.claim import Run
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import BY, Mean, estimated, sign_of
from verify.finding import Finding, Verdict, at_most

N, P = 8, 0.2  # nodes and edge probability of the training graphs
UNTRAINED = 0.1  # largest accuracy before training; stated before any model was evaluated
QUICK = 200  # labellings of 2Chain in a quick run
AT_ONCE = 1024  # graphs of one batch


class Right(NamedTuple):
    """The accuracies of a model: the fractions of graphs on which the model predicts all pairs
    right.

    The test graphs are fresh graphs distributed as in training, fresh random graphs within and
    beyond distance 3, and all labellings of 2Chain and 2Clique.  `errors` are the standard errors
    of the first three accuracies.
    """

    own: float
    within: float
    beyond: float
    two_chain: float
    two_clique: float
    errors: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def of(self, graphs: str) -> Mean:
        """The accuracy in the field `graphs`, with its standard error (0 if all were tested)."""
        errors = dict(zip(self._fields, self.errors, strict=False))
        return Mean(getattr(self, graphs), errors.get(graphs, 0.0))

    def __str__(self) -> str:
        own, within, beyond, chain, clique = (f"{accuracy:.1%}" for accuracy in self[:5])
        return (
            f"{own}; on graphs of diameter at most 3: {within}, on graphs of diameter above 3: "
            f"{beyond}, on two paths: {chain}, on two cliques: {clique}"
        )


class Parts(NamedTuple):
    """Fractions of the squared norm of the weights W and of the unembedding C, by channel.

    On n nodes, with the identity I and the all-ones matrix J, let A ⊗ I + B ⊗ J be the weights
    averaged over all relabellings. `j` is n²‖B‖²/(n‖A‖² + n²‖B‖²) for W and C together, and
    `j_in_W` the same fraction for W only. `off_diagonal` is the fraction of the squared norm in the
    averaged weights off the diagonals of the n × n blocks, and `rest` the fraction that is not
    invariant under relabelling.

    J does not always count walks: in the block of C that reads I, J adds a constant to all outputs,
    as the threshold does.
    """

    j: float
    j_in_W: float
    off_diagonal: float
    rest: float

    def __str__(self) -> str:
        return (
            f"{self.j:.2g} in J; for the score weights alone {self.j_in_W:.2g} in J; "
            f"{self.off_diagonal:.2g} invariant and off the diagonals of blocks; {self.rest:.2g} "
            "not invariant"
        )


@dataclass(frozen=True)
class Trial:
    """Test graphs: fresh random graphs, and all labellings of 2Chain and 2Clique."""

    fresh: np.ndarray
    two_chain: np.ndarray
    two_clique: np.ndarray

    @staticmethod
    def of(run: Run, samples: int) -> Trial:
        fresh = erdos_renyi(samples, N, P, run.rng)  # the same in quick runs
        chains, cliques = witnesses()
        if run.quick:
            chains = run.rng.permutation(chains)[:QUICK]
        return Trial(fresh, chains, cliques)

    def right(self, model: Transformer, graphs: str) -> Right:
        """The accuracies of a model that was trained on `graphs`."""
        fresh, chain, clique = (
            all_right(model, A) for A in (self.fresh, self.two_chain, self.two_clique)
        )
        far = beyond(self.fresh, 1).any((-1, -2))
        kinds = {"within": fresh[~far], "all": fresh, "beyond": fresh[far]}
        own, near, away = (estimated(kinds[kind]) for kind in (graphs, "within", "beyond"))
        return Right(
            own=own.mean,
            within=near.mean,
            beyond=away.mean,
            two_chain=float(chain.mean()),
            two_clique=float(clique.mean()),
            errors=(own.error, near.error, away.error),
        )


def all_right(model: Transformer, A: np.ndarray) -> np.ndarray:
    """Whether a model predicts all pairs of each graph of A (m, n, n) right, as booleans (m,)."""
    predicted = np.concatenate(
        [model(part).numpy() for part in np.split(A, range(AT_ONCE, len(A), AT_ONCE))]
    )
    return np.asarray((predicted == connected(A)).all((-1, -2)))


class Seen(NamedTuple):
    """A trained model and its accuracies."""

    name: str
    model: Transformer
    right: Right


Seeds = Mapping[str, list[Seen]]
"""The models of all seeds, by their training graphs."""


def evaluated(prefix: str, which: str, kinds: tuple[str, ...], trial: Trial) -> Seeds:
    """The evaluated models of every seed, by training graphs, from the checkpoints `prefix`-`kind`.

    `which` is the kind of transformer, "disentangled" or "softmax".  Raises ValueError for
    checkpoints that are missing, or of another task or kind of transformer.
    """
    kind = f"a {which} transformer trained on connectivity"
    return {
        graphs: [
            Seen(name, model, trial.right(model, graphs))
            for name, model, _ in models_of(f"{prefix}-{graphs}", kind)
        ]
        for graphs in kinds
    }


def before_training(prefix: str) -> Transformer:
    """The model of the first checkpoint named `prefix`, before training."""
    model: Any = untrained(configuration_of(f"{prefix}-all-seed0")).requires_grad_(False)
    return model


def untrained_accuracy(model: Transformer, trial: Trial) -> Finding:
    """Checks that before training the model is right on few graphs."""
    right = trial.right(model, "all")
    return at_most(
        "graphs",
        "accuracy on fresh graphs before training",
        "trained",
        right.own,
        UNTRAINED,
        words=str(right),
        wanted=f"at most {UNTRAINED:.0%}",
    )


def learns(each: Seen, least: float) -> Finding:
    """Checks that the accuracy on fresh graphs distributed as in training is at least `least`.

    The comparison is by standard errors.
    """
    found = each.right.of("own")
    own, error = found.mean, found.error
    return Finding(
        "graphs",
        "accuracy on fresh graphs distributed as in training",
        "trained",
        found.value,
        least,
        Verdict.HOLDS if own == 1 else sign_of(own - least, error),
        words=f"{own:.2%} ± {error:.2%}; {str(each.right).partition('; ')[2]}",
        wanted=f"at least {least:.0%}, {BY}",
    )


@cache
def witnesses() -> tuple[np.ndarray, np.ndarray]:
    """All labellings of 2Chain and of 2Clique."""
    return labellings(two_chain(N)), labellings(two_clique(N))


def grids_of(model: Transformer) -> list[np.ndarray]:
    """The score weights W of every layer, and the unembedding, from the model's tensors."""
    scores = [attn.W_K[0].mT @ attn.W_Q[0] for attn in model.attentions]
    return [W.detach().double().numpy() for W in (*scores, model.unembed.W_U)]


def parts_of(model: Transformer) -> Parts:
    """The fractions of the squared norm of the weights of a model in each channel."""
    n, grids = model.interface.n_nodes, grids_of(model)
    pairs = [two_channels(W, n) for W in grids]
    # ‖A ⊗ I‖² and ‖B ⊗ J‖² of each.
    sizes = np.array([[n * (A * A).sum(), n * n * (B * B).sum()] for A, B in pairs])
    (in_I, in_J), (W_in_I, W_in_J) = sizes.sum(0), sizes[:-1].sum(0)
    splits = np.array([orthogonal_split(W, n) for W in grids]).sum(0)
    _, off_diagonal, rest = splits / splits.sum()
    fractions = in_J / (in_I + in_J), W_in_J / (W_in_I + W_in_J), off_diagonal, rest
    return Parts(*map(float, fractions))
