"""Trained models that add numbers: their predictions, and the contribution of each module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch

from constructions.prefixes import Siblings, after_prefix
from constructions.trained import configuration_of, untrained
from theory.arithmetic.filters import null_space_projection
from theory.arithmetic.fourier import bin_of, bin_sizes, fourier_bins, fourier_matrix
from theory.arithmetic.spectrum import peak_ratios
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import Mean, ratio

PERIODS = {"2": Fraction(2), "2.5": Fraction(5, 2), "5": Fraction(5), "10": Fraction(10)}
HIGH = 29  # bins ≥ 29 are called high, bins 1 … 28 low
HEADS, MLPS = ("heads 1", "heads 2"), ("mlp 1", "mlp 2")
NEAR = 2  # errors of at most this size are called near

Change = Callable[[str, Any], Any]


class Traced(NamedTuple):
    """What each module adds to the stream at "=", (m, D), and the keys and values before "="."""

    added: dict[str, Any]
    earlier: list[list[Siblings]]


class Accuracy(NamedTuple):
    """The numbers of right predictions and of prompts for each of m unordered pairs, both (m,)."""

    right: np.ndarray
    prompts: np.ndarray

    @property
    def mean(self) -> Mean:
        """The accuracy, with a standard error that assumes that unordered pairs are independent."""
        return ratio(self.right, self.prompts)

    def ahead_of(self, other: Accuracy) -> Mean:
        """The accuracy minus another accuracy on the same pairs."""
        return ratio(self.right - other.right, self.prompts)


@dataclass
class Adder:
    """A trained model that adds, its m test pairs (m, 2), and the predictions on the test pairs."""

    name: str
    model: Any
    pairs: np.ndarray

    @cached_property
    def sums(self) -> np.ndarray:
        """The sums of the m test pairs, (m,)."""
        return np.asarray(self.pairs.sum(1))

    @cached_property
    def whole(self) -> Traced:
        """The trace of all test pairs."""
        return trace(self.model, self.pairs)

    @property
    def traced(self) -> dict[str, Any]:
        """What each module adds to the stream at "=", (m, D) for m pairs and D dimensions."""
        return self.whole.added

    @cached_property
    def parts(self) -> dict[str, np.ndarray]:
        """The contribution of every module to the p logits, (m, p), for a fixed last layer norm."""
        return contributions(self.model, self.traced)

    @cached_property
    def logits(self) -> np.ndarray:
        """The p logits of each of m test pairs, (m, p)."""
        return np.asarray(sum(self.parts.values()))

    @cached_property
    def right(self) -> Accuracy:
        """The accuracy on the test pairs, by unordered pairs."""
        return by_pair(self.pairs, self.logits.argmax(1) == self.sums)

    @cached_property
    def errors(self) -> np.ndarray:
        """The differences between predictions and sums that are not 0."""
        off = self.logits.argmax(1) - self.sums
        return np.asarray(off[off != 0])


def adders(rows: str) -> list[Adder]:
    """The models of all seeds with embedding `rows`, on all test pairs in both orders."""
    kind = f"a tied transformer of {rows} rows trained on addition"
    return [
        Adder(name, model.double(), both_orders(task.pairs(trained=False).numpy()))
        for name, model, task in models_of(f"addition-{rows}", kind)
    ]


def before_training(name: str, pairs: np.ndarray) -> Adder:
    """The model of a checkpoint before training, with the test pairs."""
    model = untrained(configuration_of(name)).requires_grad_(False).double()
    return Adder(f"untrained {name}", model, pairs)


def by_pair(pairs: np.ndarray, right: np.ndarray) -> Accuracy:
    """The accuracy by unordered pairs.

    `right` (m,) contains whether the prediction on each of the m pairs (m, 2) is right.
    """
    _, place = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    return Accuracy(np.bincount(place, right), np.bincount(place))


def both_orders(pairs: np.ndarray) -> np.ndarray:
    """The given pairs (m, 2), followed by the pairs of two different numbers in reversed order."""
    return np.concatenate([pairs, pairs[pairs[:, 0] != pairs[:, 1], ::-1]])


def trace(
    model: Any,
    pairs: np.ndarray,
    change: Change = lambda module, added: added,
    whole: Traced | None = None,
) -> Traced:
    """What each module adds to the residual stream at "=", (m, D) for m pairs and D dimensions.

    Each output is replaced by `change(module, output)`. "=" is the last token, which the two
    numbers do not see: their keys and values, and outputs before the first that is changed, are
    those of the result `whole` without a change, if it is given.
    """
    tokens = model.prompt(pairs).tokens
    earlier = after_prefix(model, tokens[:, :2])[1] if whole is None else whole.earlier
    H = model.embed(tokens[:, 2:]) + model.pos_embed(1, 2)
    found, same = {"embedding": H[:, 0]}, whole is not None
    for number, (block, cache) in enumerate(zip(model.blocks, earlier, strict=True), start=1):
        for module, act in (
            (f"heads {number}", lambda H, b=block, c=cache: b.attn.following(b.ln1(H), c)),
            (f"mlp {number}", lambda H, b=block: b.mlp(b.ln2(H))),
        ):
            added = whole.added[module] if whole is not None and same else act(H)[:, 0]
            found[module] = change(module, added)
            same = same and found[module] is added
            H = H + found[module][:, None]
    return Traced(found, earlier)


def contributions(model: Any, traced: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The contribution of each module, and of the bias of the last layer norm, to the logits.

    The contribution of a module is divided by the length of the whole stream, as in the layer norm.
    """
    stream, norm, W_U = sum(traced.values()), model.ln_final, model.unembed.W_U
    length = (stream.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    found = {
        module: ((added - added.mean(-1, keepdim=True)) / length * norm.w @ W_U).numpy()
        for module, added in traced.items()
    }
    return {**found, "bias": np.broadcast_to((norm.b @ W_U).numpy(), found["embedding"].shape)}


def accuracy(logits: np.ndarray, sums: np.ndarray) -> float:
    """The fraction of pairs whose sum has the largest logit."""
    return float((logits.argmax(1) == sums).mean())


def by_layer(adder: Adder) -> list[float]:
    """The accuracies if the unembedding is applied after the embedding, and after each layer."""
    found, stream = [], 0
    for module, added in adder.traced.items():
        stream = stream + added
        if not module.startswith("heads"):
            logits = adder.model.unembedding(adder.model.seen(stream)).numpy()
            found.append(accuracy(logits, adder.sums))
    return found


def peaks(rows: np.ndarray) -> dict[str, float]:
    """The size of the bin of each period divided by the median size of the high bins.

    `rows` has shape (p, …) and contains one row for each of p numbers or p logits.
    """
    ratios = peak_ratios(rows, HIGH)
    return {name: float(ratios[bin_of(T, len(rows))]) for name, T in PERIODS.items()}


def tied_embedding(model: Any) -> np.ndarray:
    """The embedding of p numbers in D dimensions, (p, D); the unembedding is its transpose."""
    return np.asarray(model.unembed.W_U.mT.numpy())


def even_fraction(errors: np.ndarray) -> float:
    """The fraction of errors that are even; 0 if there are no errors."""
    return float((errors % 2 == 0).sum() / max(1, len(errors)))


def near_fraction(errors: np.ndarray) -> float:
    """The fraction of errors within ±2; 0 if there are no errors."""
    return float((abs(errors) <= NEAR).sum() / max(1, len(errors)))


def high_fraction(adder: Adder, modules: tuple[str, ...]) -> float:
    """The fraction of the contribution of modules to the logits that is in high bins.

    The fraction is a fraction of the sum of squares; the constant bin is excluded.
    """
    squares = bin_sizes(_added(adder, modules).T) ** 2
    return float(squares[HIGH:].sum() / squares[1:].sum())


def _added(adder: Adder, modules: tuple[str, ...]) -> np.ndarray:
    """The joint contribution of modules to the logits, (m, p)."""
    return np.sum([adder.parts[module] for module in modules], axis=0)


def masked(adder: Adder, modules: tuple[str, ...], high: bool) -> float:
    """The accuracy without the high, or the low, bins of the contribution of modules to the logits.

    The high bins are removed if `high` is true, and the low bins otherwise.
    """
    p = adder.logits.shape[1]
    return _without(adder, modules, fourier_matrix(p)[_cut(p, high)])


def masked_at_random(
    adder: Adder, modules: tuple[str, ...], high: bool, rng: np.random.Generator
) -> float:
    """The accuracy without random dimensions of the contribution of modules to the logits.

    As many dimensions are removed as the high, or the low, bins have.
    """
    p = adder.logits.shape[1]
    axes, _ = np.linalg.qr(rng.standard_normal((p, int(_cut(p, high).sum()))))
    return _without(adder, modules, axes.T)


def _cut(p: int, high: bool) -> np.ndarray:
    """Whether rows of the Fourier matrix belong to high bins, or to low ones, (p,)."""
    bins = fourier_bins(p)
    return np.asarray(bins >= HIGH if high else (bins > 0) & (bins < HIGH))


def _without(adder: Adder, modules: tuple[str, ...], axes: np.ndarray) -> float:
    """The accuracy without orthonormal directions (r, p) of the contribution of modules."""
    added = _added(adder, modules)
    return accuracy(adder.logits - added @ axes.T @ axes, adder.sums)


def effective_rows(model: Any) -> np.ndarray:
    """The matrix Q W (p, D) from states of the stream to Fourier coefficients of the logits.

    For p logits and a state h of D dimensions, the logits are W h/length.  The matrix W contains
    the unembedding and the weights and centring of the last layer norm, and length is the length of
    the centred state.  Q is the Fourier matrix.
    """
    W = (model.unembed.W_U.mT * model.ln_final.w).numpy()
    W = W - W.mean(1, keepdims=True)
    return fourier_matrix(len(W)) @ W


def rank_of_filter(model: Any, high: bool) -> int:
    """The number of dimensions of the stream that the high or the low filter removes.

    The number is at most the width of the stream minus 1, because of the centring.
    """
    return round(model.d_model - np.trace(null_space_projection(_removed(model, high))))


def _removed(model: Any, high: bool) -> np.ndarray:
    """The rows of Q W of the high bins, or of the low ones."""
    rows = effective_rows(model)
    return rows[_cut(len(rows), high)]


def filtered(adder: Adder, modules: tuple[str, ...], high: bool) -> float:
    """The accuracy if the outputs of modules are projected to remove high, or low, bins.

    After the projection, the outputs contribute no high bins to the logits if `high` is true, and
    no low bins otherwise.
    """
    return _projected(adder, modules, null_space_projection(_removed(adder.model, high)))


def filtered_at_random(
    adder: Adder, modules: tuple[str, ...], rank: int, rng: np.random.Generator
) -> float:
    """The accuracy if a random projection removes `rank` dimensions from the outputs of modules."""
    axes, _ = np.linalg.qr(rng.standard_normal((adder.model.d_model, rank)))
    return _projected(adder, modules, np.eye(len(axes)) - axes @ axes.T)


def _projected(adder: Adder, modules: tuple[str, ...], P: np.ndarray) -> float:
    """The accuracy if outputs of modules to the stream are multiplied by P."""
    matrix = torch.from_numpy(P)

    def change(module: str, added: Any) -> Any:
        return added @ matrix if module in modules else added

    traced = trace(adder.model, adder.pairs, change, adder.whole)
    logits = sum(contributions(adder.model, traced.added).values())
    return accuracy(np.asarray(logits), adder.sums)
