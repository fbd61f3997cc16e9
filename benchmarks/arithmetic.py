"""The time of the adder on all pairs, batched or one by one: `benchmarks/arithmetic.py [THREADS]`.

The 68 121 pairs of 0 … 260 in float64, logits and predictions: by rows of 261 pairs, in one batch,
and pair by pair, which is timed on one row and multiplied by 261; and the same logits in int64, as
in the claim.  Ratios are medians over rounds in which each variant runs once.  Takes a minute and
1 GiB.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import statistics

import numpy as np
import torch
from timing import in_turn, ratio

from constructions import adder, modular_addition
from constructions.transformer import Transformer
from theory.arithmetic.adder import default_bits, n_candidates
from theory.arithmetic.adder_balls import rounded_logits
from verify.arithmetic.pairs import rows_of_pairs

LARGEST, REPEATS = 260, 5


def by_rows(model: Transformer) -> int:
    """The number of wrong predictions, one row of pairs at a time."""
    return sum(
        int((model(pairs)[:, 0].numpy() != pairs.sum(1)).sum()) for pairs in rows_of_pairs(model)
    )


def at_once(model: Transformer, pairs: np.ndarray) -> int:
    """The number of wrong predictions, all pairs in one batch."""
    return int((model(pairs)[:, 0].numpy() != pairs.sum(1)).sum())


def one_by_one(model: Transformer, pairs: np.ndarray) -> int:
    """The number of wrong predictions, pair by pair."""
    return sum(int(model(pair)) != int(pair.sum()) for pair in pairs)


def in_int64(rows: list[np.ndarray]) -> None:
    """The logits of all rows in int64."""
    p = n_candidates(LARGEST)
    for pairs in rows:
        rounded_logits(pairs, p, 5, 64.0, default_bits(p, 5, 64.0))


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), torch {torch.__version__}, numpy {np.__version__}\n")
    model = adder(LARGEST)
    rows = list(rows_of_pairs(model))
    times = in_turn(
        {
            "by rows": lambda: by_rows(model),
            "in one batch": lambda: at_once(model, np.concatenate(rows)),
            "one row, pair by pair": lambda: one_by_one(model, rows[0]),
            "in int64": lambda: in_int64(rows),
        },
        REPEATS,
    )
    for name, found in times.items():
        print(f"{name:24} {statistics.median(found):8.3f} s")
    loop = ratio(times, "one row, pair by pair", "by rows") * len(rows)
    print(f"\npair by pair takes {loop:.0f} times as long as by rows")
    print(f"in one batch takes {ratio(times, 'in one batch', 'by rows'):.2f} times as long")
    for p in (25, 61):
        built = modular_addition(p)
        found = in_turn({"": lambda model=built: by_rows_mod(model)}, REPEATS)[""]
        print(f"modular_addition({p}), {p * p} pairs: {statistics.median(found):.3f} s")


def by_rows_mod(model: Transformer) -> None:
    """The predictions of modular addition, one row of pairs at a time."""
    for pairs in rows_of_pairs(model):
        model(pairs)


if __name__ == "__main__":
    main()
