"""Long sequences: decoding, hardmax attention and start-up beside a peer and beside a limit.

    python benchmarks/long_runs.py [TOKENS]        TOKENS = 100 000; three minutes, 10⁶ ten

The peer does the same in another way.  The limit is a part of the work that no arrangement of the
rest can save.  Times are medians, those of a line measured in turn; each line has a process of its
own, whose peak memory is printed.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import resource
import subprocess
import sys

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
import torch
from timing import in_turn, once, ratio, seconds
from torch.nn.functional import scaled_dot_product_attention

from constructions import hop, induction_heads, scratchpad, turing_machine
from constructions.cached_keys import Lookups
from constructions.decoding import PrunedDecoder
from constructions.transformer import Transformer
from theory.computation import MACHINES, benchmark_automaton
from theory.retrieval import induction, random_sequences

SHORT = 1000  # tokens that the whole cache decodes as well


def scratchpad_of(steps: int) -> tuple[Transformer, list[int]]:
    """A model and a prompt that `steps` tokens follow."""
    automaton = benchmark_automaton("A5")
    word = np.random.default_rng(0).integers(automaton.n_symbols, size=steps)
    model = scratchpad(automaton, steps)
    return model, [*model.interface.prompt(word)]


def machine_of(steps: int) -> tuple[Transformer, list[int]]:
    """A model and a prompt that `steps` tokens follow."""
    model = turing_machine(MACHINES["wolfram-2-3"], steps)
    return model, model.interface.prompt()


def decoding(build: Callable[[int], tuple[Transformer, list[int]]], steps: int) -> None:
    """Prints the times of a token: with hulls, with the whole cache, and of the products alone."""
    model, prompt = build(steps)
    decoder = PrunedDecoder(model, SHORT)

    def products() -> None:
        """Each head attends to the token itself."""
        attended = Lookups.attended
        Lookups.attended = lambda heads, read: read[heads.value]
        decoder.clear()
        for _ in range(SHORT):
            decoder.append(0)
            decoder.outputs().argmax()
        Lookups.attended = attended

    def whole() -> torch.Tensor:
        return model.generate([prompt], SHORT)

    limit = seconds(products, 5) / SHORT
    if steps > SHORT:
        taken = once(partial(model.generate, prompt, steps)) / (len(prompt) + steps)
        report(f"{model.name}, {steps} tokens", taken, {}, {"its products": limit}, memory())
        return
    times = in_turn({"ours": partial(model.generate, prompt, SHORT), "whole": whole}, 3)
    tokens = len(prompt) + SHORT
    taken = median(times["ours"]) / tokens
    peers = {"the whole cache": taken * ratio(times, "whole", "ours")}
    report(f"{model.name}, {SHORT} tokens", taken, peers, {"its products": limit}, memory())


def attention(build: Callable[[int], Transformer], n: int, repeats: int) -> None:
    """Prints the times of a layer on a random sequence, of torch's attention, and of products.

    The peer is causal softmax attention of one head of the same width in float32, and the limit
    are the products of queries and keys, and of weights and values, for half of the pairs.
    """
    model = build(n)
    tokens = random_sequences(batch=1, length=n, vocabulary_size=8, seed=0)[0]
    generator = torch.Generator().manual_seed(0)
    width = max(block.attn.W_Q.shape[-1] for block in model.blocks if block.attn is not None)
    Q, K, V = (torch.randn(1, 1, n, width, generator=generator) for _ in range(3))
    rows = 512

    def products() -> None:
        for start in range(0, n, rows):
            end = start + rows
            (Q[..., start:end, :] @ K[..., :end, :].mT) @ V[..., :end, :]

    found = model(tokens)
    peak = memory()
    if "induction" in model.name:
        assert np.array_equal(found.numpy(), induction(np.asarray(tokens)))
    calls = {
        "ours": partial(model, tokens),
        "torch": partial(scaled_dot_product_attention, Q, K, V, is_causal=True),
        "products": products,
    }
    times = in_turn(calls, repeats)
    taken = median(times["ours"]) / model.n_layers
    peers = {"torch, float32": taken * ratio(times, "torch", "ours") * model.n_layers}
    limits = {"two products": taken * ratio(times, "products", "ours") * model.n_layers}
    report(f"{model.name}, a layer", taken, peers, limits, peak)


def start_up(arguments: str, limit: str) -> None:
    """Prints the time of a command, and of a program that it cannot do without."""
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL)
    command = partial(run, [sys.executable, "-m", *arguments.split()])
    alone = partial(run, [sys.executable, "-c", limit])
    times = in_turn({"ours": command, "alone": alone}, 5)
    taken = median(times["ours"])
    limits = {f"python -c '{limit}'": taken * ratio(times, "alone", "ours")}
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    report(f"python -m {arguments}", taken, {}, limits, peak)


def memory() -> float:
    """The peak memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def report(
    what: str, taken: float, peers: dict[str, float], limits: dict[str, float], peak: float
) -> None:
    """Prints one line: microseconds of ours, of a peer and of a limit, and the peak of ours."""
    others = ", ".join(
        f"{kind} {name} {1e6 * each:.1f} ({taken / each:.2f} ×)"
        for kind, found in (("peer", peers), ("limit", limits))
        for name, each in found.items()
    )
    print(f"{what}: {1e6 * taken:.1f} µs; {others}; peak {peak:.2f} GiB", flush=True)


def main() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 10**5
    lines: dict[str, Callable[[], None]] = {
        f"{build.__name__} {steps}": partial(decoding, build, steps)
        for build in (scratchpad_of, machine_of)
        for steps in (SHORT, tokens)
    }
    pairs = partial(induction_heads, 8)
    lines["hop 1024"] = partial(attention, partial(hop, 16, 8), 1024, 9)
    lines["induction 1024"] = partial(attention, pairs, 1024, 9)
    lines["induction 32768"] = partial(attention, pairs, 2**15, 1)
    lines["list"] = partial(start_up, "verify list", "import argparse")
    lines["newton"] = partial(start_up, "verify newton --k 5", "import torch")
    if len(sys.argv) > 2:
        lines[sys.argv[2]]()
        return
    for name in lines:
        subprocess.run([sys.executable, __file__, str(tokens), name], check=True)


if __name__ == "__main__":
    main()
