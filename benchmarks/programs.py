"""Compiled programs beside Tracr's: `python benchmarks/programs.py`, in half a minute.

The test programs of Tracr [Lindner2023], with the vocabularies and lengths of its tests, are
compiled: layers, largest number of heads and of hidden neurons in a layer, width, weights, and the
times to compile, to run one sequence of the largest length, and to run each of a batch of 64.

Tracr's figures are constants, measured once with Tracr itself on two cores.  Its weights do not
include an unembedding, ours do.  Only layers and weights are compared with ours directly; times of
another run and machine are not measured side by side, so the ratios of times are orders of
magnitude.  Exits with 1 if a target is missed.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

from dataclasses import dataclass
from statistics import geometric_mean

import numpy as np
import torch
from timing import seconds

from constructions.programs import compiled
from theory.programs.library.published import TRACR

BATCH = 64
LAYERS, WEIGHTS, COMPILE, RUN = 1, 1 / 3, 0.5, 100  # targets: ratios, seconds, ratio


@dataclass
class Sizes:
    """The sizes of a model, and the seconds to compile it and to run one sequence."""

    layers: int
    heads: int
    width: int
    hidden: int
    weights: int
    compile: float
    run: float


THEIRS = {
    "frac_prevs": Sizes(2, 1, 14, 1, 1_108, 21, 0.118),
    "shift_by(1)": Sizes(1, 1, 16, 1, 726, 11, 0.093),
    "detect_pattern": Sizes(3, 2, 26, 6, 6_558, 19, 0.118),
    "length": Sizes(1, 1, 15, 8, 806, 12, 0.092),
    "reverse": Sizes(4, 1, 43, 30, 19_700, 12, 0.166),
    "pair_balance": Sizes(2, 2, 23, 4, 5_442, 18, 0.123),
    "shuffle_dyck, 2 pairs": Sizes(8, 4, 55, 212, 246_884, 16, 0.157),
    "shuffle_dyck, 3 pairs": Sizes(9, 6, 73, 438, 725_253, 18, 0.993),
    "hist": Sizes(1, 1, 19, 12, 1_208, 20, 0.107),
    "sort_unique": Sizes(2, 1, 23, 12, 2_826, 14, 0.171),
    "sort": Sizes(3, 1, 43, 20, 17_544, 13, 0.114),
    "sort_freq": Sizes(5, 1, 66, 30, 64_122, 14, 0.125),
    "count_less_freq": Sizes(2, 1, 29, 14, 4_287, 13, 0.147),
}


def measured(name: str) -> tuple[Sizes, float]:
    """The sizes and times of our model of a program, and the seconds for each of a batch."""
    program, vocabulary, length = TRACR[name]
    model = compiled(program, vocabulary, length)
    hidden = max((len(b.mlp.b_in) for b in model.blocks if b.mlp is not None), default=0)
    batch = np.random.default_rng(0).integers(len(vocabulary), size=(BATCH, length))
    sequence = [vocabulary[i] for i in batch[0]]
    with torch.no_grad():
        run = seconds(lambda: model(sequence), 101)
        each = seconds(lambda: model(batch), 21) / BATCH
    compile_time = seconds(lambda: compiled(program, vocabulary, length), 5)
    sizes = model.n_layers, model.n_heads, model.d_model, hidden, model.n_parameters
    return Sizes(*sizes, compile_time, run), each


def main() -> None:
    torch.set_num_threads(1)
    print(f"one thread, numpy {np.__version__}, torch {torch.__version__}; ours – Tracr")
    columns = ("layers", "heads", "width", "hidden", "weights", "ratio", "compile", "run", "each")
    print(f"{'':22}" + "".join(f"{column:>15}" for column in columns))
    ours = {name: measured(name) for name in THEIRS}
    for name, theirs in THEIRS.items():
        own, each = ours[name]
        cells = [
            *(f"{getattr(own, c)} – {getattr(theirs, c)}" for c in columns[:5]),
            f"1 / {theirs.weights / own.weights:.1f}",
            f"{own.compile * 1e3:.0f} ms – {theirs.compile:.0f} s",
            f"{own.run * 1e3:.2f} – {theirs.run * 1e3:.0f} ms",
            f"{each * 1e3:.4f} ms",
        ]
        print(f"{name:22}" + "".join(f"{cell:>15}" for cell in cells))
    pairs = [(own, THEIRS[name]) for name, (own, _) in ours.items()]
    layers = max(own.layers / theirs.layers for own, theirs in pairs)
    weights = geometric_mean(own.weights / theirs.weights for own, theirs in pairs)
    slowest = max(own.compile for own, _ in pairs)
    runs = [theirs.run / own.run for own, theirs in pairs]
    targets = {
        f"largest ratio of layers {layers:.2f}, wanted ≤ {LAYERS}": layers <= LAYERS,
        f"geometric mean of weights 1 / {1 / weights:.1f}, wanted ≤ 1 / {1 / WEIGHTS:.0f}": (
            weights <= WEIGHTS
        ),
        f"slowest to compile {slowest:.2f} s, wanted < {COMPILE} s": slowest < COMPILE,
        f"runs {min(runs):.0f} to {max(runs):.0f} times faster, geometric mean "
        f"{geometric_mean(runs):.0f}, wanted ≥ {RUN}": min(runs) >= RUN,
    }
    for target, met in targets.items():
        print(f"{target}: {'met' if met else 'MISSED'}")
    raise SystemExit(not all(targets.values()))


if __name__ == "__main__":
    main()
