"""Sizes and times of the retrieval constructions: `python benchmarks/retrieval.py [THREADS]`.

Models are built (median of 20) and run in float64 on random sequences of n tokens: a single
sequence, with hardmax and with softmax, and a batch of 32 with hardmax, with the time per sequence.
Then all sequences of at most n tokens are run, from shared prefixes and, in turn, as sequences of
each length in batches of 4096, and as many sequences of one token.  Takes a minute.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

from collections.abc import Callable
from functools import partial

import torch
from timing import in_turn, ratio, seconds

from constructions import hop, in_context_ngram, induction_heads
from constructions.prefixes import PrefixOutputs
from constructions.transformer import Transformer
from theory.retrieval import all_sequences, random_sequences

BATCH, AT_ONCE = 32, 4096


def line(build: Callable[[], Transformer], name: str, n: int, V: int) -> str:
    model = build()
    nonzero = sum(int(weights.count_nonzero()) for weights in model.parameters())
    cells = [
        f"{name:16}",
        f"{n:5} {V:3}  {model.n_layers:6} {model.n_heads:5} {model.d_model:5}",
        f"{model.n_parameters:8,} {nonzero:8,} {1e3 * seconds(build, 20):7.2f}",
    ]
    tokens = random_sequences(batch=BATCH, length=n, vocabulary_size=V, seed=0)
    soft = model.sharpened(model.least_sharpness() + 1)
    few = n > 128  # a batch of longer sequences takes seconds
    with torch.no_grad():
        alone = [1e3 * seconds(partial(run, tokens[0]), 7 if few else 20) for run in (model, soft)]
        together = 1e3 * seconds(partial(model, tokens), 1 if few else 5) / BATCH
    cells.append(f"{alone[0]:8.2f} {alone[1]:8.2f} {together:8.2f}")
    return " ".join(cells)


def all_of_them(model: Transformer, V: int, n: int) -> str:
    """Sequences of at most n tokens a second, from shared prefixes and one by one."""
    count = sum(V**t for t in range(1, n + 1))

    def whole() -> None:
        for t in range(1, n + 1):
            rows = all_sequences(t, V)
            for first in range(0, len(rows), AT_ONCE):
                model.logits(rows[first : first + AT_ONCE])

    def tokens() -> None:
        """As many tokens, each after BOS alone."""
        for first in range(0, count, AT_ONCE):
            model.logits(single[: min(AT_ONCE, count - first)])

    single = random_sequences(batch=AT_ONCE, length=1, vocabulary_size=V, seed=0)
    shared = partial(PrefixOutputs, model, [range(V)] * n)
    times = in_turn({"shared": shared, "whole": whole, "tokens": tokens}, 5)
    a, b = (count / sorted(times[name])[2] for name in ("shared", "whole"))
    whole_by_shared, least = ratio(times, "whole", "shared"), ratio(times, "tokens", "shared")
    speeds = f"{a:12,.0f} {b:10,.0f} {whole_by_shared:6.1f} × {least:6.2f} ×"
    return f"{model.name:55} {count:8,} {speeds}"


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), torch {torch.__version__}; times in milliseconds per sequence")
    print(
        f"{'':16} {'n':>5} {'V':>3}  layers heads width  weights    not 0   built "
        f"{'hardmax':>8} {'softmax':>8} {'of 32':>8}"
    )
    for n, V in ((32, 8), (128, 8), (1024, 8), (1024, 64)):
        models: dict[str, Callable[[], Transformer]] = {
            "induction_heads": partial(induction_heads, V, n),
            **{f"hop k = {k}": partial(hop, k, V, n) for k in (1, 4, 16)},
            "bigram": partial(in_context_ngram, V, n, 2),
        }
        for name, build in models.items():
            print(line(build, name, n, V), flush=True)
        if (n, V) == (128, 8):
            print(
                "# reported, not measured here: a RASP compiler's best encoding of the induction "
                "head,\n# n = 128, V = 8: 4 layers, width 2341, 58 million weights, 16,600 ms to "
                "compile, 98 ms to run,\n# wrong on 20 of 20 sequences"
            )
    print(
        f"{'all sequences of at most n tokens':55} {'number':>8} a second: shared, whole; "
        "times of whole and of one token each"
    )
    for V, n in ((4, 6), (4, 8), (2, 14)):
        for model in (
            induction_heads(V, n),
            *(hop(k, V, n) for k in (1, 4, 16)),
            in_context_ngram(V, n, 2),
        ):
            print(all_of_them(model, V, n), flush=True)


if __name__ == "__main__":
    main()
