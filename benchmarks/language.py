"""Times of worlds of facts and parities by CoT: `python benchmarks/language.py [THREADS]`.

Three times are compared.  A world of a million facts and its bounds for three models are compared
with loops over facts and documents.  One gradient step on the nodes of a parity is compared with a
loop over words.  Decoding of its 31 nodes with cached keys and values is compared with passes over
the whole sequence.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import random
from collections import Counter
from itertools import accumulate

import numpy as np
import torch
from timing import in_turn, once, ratio, seconds

from constructions import parity_with_steps
from constructions.transformer import Transformer
from theory.language import one_step, parity_tree, with_steps, world
from theory.language.parity_tree import ParityTree
from theory.language.worlds import MODELS

FACTS, OTHERS, DOCUMENTS = 10**6, 10**11, 10**5
D, K, SAMPLES, WORDS = 64, 32, 16_000, 100
FEW = 100  # words of the loop over words, whose time is extrapolated


def figures() -> list[float]:
    """g(H) and the deterministic bound for the three models of a world."""
    drawn = world(FACTS, OTHERS, DOCUMENTS, "zipf", seed=0)
    models = [drawn.model(name) for name in MODELS]
    return [x for m in models for x in (m.hallucination, m.deterministic_bound(1 / drawn.unseen))]


def looped_figures() -> list[float]:
    """g(H) of the calibrated and the Good–Turing model, fact by fact."""
    total = sum(1 / rank for rank in range(1, FACTS + 1))
    p = [1 / rank / total for rank in range(1, FACTS + 1)]
    drawn = Counter(
        random.Random(0).choices(range(FACTS), cum_weights=[*accumulate(p)], k=DOCUMENTS)
    )
    unseen = OTHERS + FACTS - len(drawn)
    new = sum(weight for fact, weight in enumerate(p) if fact not in drawn)
    once_seen = sum(count == 1 for count in drawn.values()) / DOCUMENTS
    return [OTHERS * new / unseen, OTHERS * once_seen / unseen]


def looped_step(tree: ParityTree, bits: np.ndarray) -> list[list[float]]:
    """`one_step`, word by word and token by token."""
    x = with_steps(tree, bits).tolist()
    found = []
    for node in range(tree.d, tree.d + tree.k - 1):
        sums = [0.0] * node
        for word in x:
            z = sum(word[:node]) / node
            slope = 8 * z if abs(z) < 0.5 else 8 * (1 if z > 0 else -1) - 8 * z
            value = 4 * z * z - 1 if abs(z) < 0.5 else -4 * z * z + 8 * abs(z) - 3
            pull = (word[node] - value) * slope * node / 8
            for j in range(node):
                sums[j] += pull * (word[j] - z)
        found.append([each / len(x) for each in sums])
    return found


def passes(model: Transformer, words: np.ndarray) -> np.ndarray:
    """The nodes, each by a pass over the whole sequence."""
    for _ in range(K - 1):
        words = np.hstack([words, model(words)[:, -1:].numpy()])
    return words[:, D:]


def worlds() -> None:
    print(f"\nA world of {FACTS:.0e} facts, {DOCUMENTS:.0e} documents")
    print(f"arrays, three models  {seconds(figures, 5):8.3f} s")
    print(f"loops, two models     {once(looped_figures):8.3f} s")


def parities() -> None:
    rng = np.random.default_rng(0)
    tree = parity_tree(D, rng.permutation(D)[:K].tolist())
    bits = 1 - 2 * rng.integers(2, size=(SAMPLES, D))
    few = one_step(tree, bits[:FEW])
    for row, each in zip(few, looped_step(tree, bits[:FEW]), strict=True):
        assert np.allclose(row[: len(each)], each, atol=1e-9), "the loop computes something else"
    print(f"\nOne gradient step, d = {D}, k = {K}, {SAMPLES} words")
    print(f"one_step              {seconds(lambda: one_step(tree, bits), 5):8.3f} s")
    loop = once(lambda: looped_step(tree, bits[:FEW])) * SAMPLES / FEW
    print(f"a loop over words     {loop:8.3f} s ({FEW} words, times {SAMPLES // FEW})")

    model = parity_with_steps(D, K, tree.positions)
    words = (1 - bits[:WORDS]) // 2
    with torch.no_grad():
        cached = lambda: model.generate(words, K - 1)  # noqa: E731
        times = in_turn({"cached": cached, "passes": lambda: passes(model, words)}, 3)
        assert (cached().numpy() == passes(model, words)).all(), "the two decode different nodes"
    print(f"\n{K - 1} nodes of {WORDS} words decoded")
    print(f"keys, values cached   {np.median(times['cached']):8.3f} s")
    print(f"whole sequences       {np.median(times['passes']):8.3f} s")
    print(f"{ratio(times, 'passes', 'cached'):.1f} times as long, median of the turns")


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), numpy {np.__version__}, torch {torch.__version__}")
    worlds()
    parities()


if __name__ == "__main__":
    main()
