"""The cost of stock classes: `python benchmarks/stock.py [THREADS]`, with GPT-2 if it is installed.

Columns for each model and its translation: width, softmax heads, tokens of the longest prompt, the
error of a batch of 32 in float64 and in float32 (nan: it raises ValueError), and the time of the
batch.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import torch
from timing import seconds

import constructions as built
from constructions.stock import to_encoder, to_gpt2
from constructions.transformer import Transformer
from theory.computation import MACHINES
from theory.kinds import InputError
from theory.regression import gaussian_prompts
from theory.retrieval import random_sequences

BATCH, D, N, K = 32, 5, 10, 5
SIZE = 2.0**-6
Case = tuple[Callable[..., Any], Transformer, tuple[Any, ...]]


def cases() -> Iterator[Case]:
    """The class, the model, and the inputs."""
    prompts = gaussian_prompts(n_prompts=BATCH, n=N, d=D, seed=0)
    examples = prompts.x, prompts.y, prompts.x_query
    tokens = (random_sequences(batch=BATCH, length=32, vocabulary_size=8, seed=0),)
    yield to_encoder, built.gradient_descent(D, K, SIZE), examples
    yield to_encoder, built.newton(D, K, SIZE, start="identity"), examples
    yield to_encoder, built.newton(D, K, SIZE, "ladder", start="identity"), examples
    yield to_encoder, built.induction_heads(8, 32), tokens
    if find_spec("transformers") is None:
        print("# no GPT-2: pip install 'weightwright[hf]'")
        return
    yield to_gpt2, built.gradient_descent(D, K, SIZE, causal=True), examples
    yield to_gpt2, built.newton_with_pauses(D, K, SIZE), examples
    yield to_gpt2, built.induction_heads(8, 32), tokens
    yield to_gpt2, built.hop(4, 8, 32), tokens
    machine = built.turing_machine(MACHINES["busy-beaver-3"], 32)
    steps = random_sequences(
        batch=BATCH, length=32, vocabulary_size=machine.interface.vocabulary_size, seed=0
    )
    yield to_gpt2, machine, (steps,)


def line(make: Callable[..., Any], model: Transformer, inputs: tuple[Any, ...]) -> str:
    stock, exact = make(model, *inputs), model.logits(*inputs)
    errors = [float((stock.logits(*inputs) - exact).abs().max())]
    try:
        short = make(model, *inputs, dtype=torch.float32)
        errors.append(float((short.logits(*inputs) - exact).abs().max()))
    except InputError:  # answers could be wrong
        errors.append(float("nan"))
    tokens = [each.prompt(*inputs).tokens.shape[1] for each in (model, stock)]
    with torch.no_grad():
        times = [1e3 * seconds(lambda m=each: m(*inputs), 5) for each in (model, stock)]
    return (
        f"{make.__name__[3:]:8} {model.construction:20} {model.n_layers:6} "
        f"{model.d_model:6} {stock.doubled.d:6} {model.n_heads:6} {stock.plan.soft.n_heads:6} "
        f"{tokens[0]:6} {tokens[1]:6} {errors[0]:9.1e} {errors[1]:9.1e} "
        f"{times[0]:8.2f} {times[1]:8.2f}"
    )


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), torch {torch.__version__}; {BATCH} prompts, times in milliseconds")
    print(
        f"{'':29} layers  width         heads        tokens        float64   float32   "
        "    ours    stock"
    )
    for make, model, inputs in cases():
        print(line(make, model, inputs), flush=True)


if __name__ == "__main__":
    main()
