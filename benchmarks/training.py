"""Training steps per second, against a plain loop: `python benchmarks/training.py [THREADS]`.

The plain loop trains the same models on prompts of the same distribution.  It draws the prompts on
the CPU in every step, uses the default settings of the optimiser, evaluates the loss after every
step, and does not compile.  Ratios are medians over turns of 20 steps each.  Takes three minutes,
half of them for compiling.  `seeds.py` measures runs of several seeds.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import statistics
import tempfile
from pathlib import Path

import torch
from timing import in_turn, ratio

from constructions.trained import Configuration, preset, untrained
from constructions.trained.group import Group
from constructions.trained.process import Process
from constructions.trained.state import State
from constructions.trained.training import AT_ONCE, advance, compiled

TURNS = 9


class Plain:
    """A plain training loop."""

    def __init__(self, made: Configuration) -> None:
        self.made, self.model = made, untrained(made)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=made.learning_rate)
        self.generator = torch.Generator().manual_seed(0)

    def advance(self) -> list[float]:
        task, losses = self.made.task, []
        for _ in range(AT_ONCE):
            batch = task.draw(self.made, self.made.batch_size, self.generator, step=0)
            value = task.loss(self.model, *batch)
            self.optimizer.zero_grad()
            value.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.made.clip)
            self.optimizer.step()
            losses.append(value.item())
        return losses


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), torch {torch.__version__}; steps per second")
    for label, made in (
        ("regression, small", preset("regression")),
        ("regression, small, LSTM", preset("regression", model="lstm")),
        ("regression, linear, 3 layers", preset("regression", "linear", n_layers=3)),
        ("induction, small", preset("induction")),
    ):
        with tempfile.TemporaryDirectory() as folder:
            run = State.begin(made, Path(folder), Process.join("cpu"))
            plain, group = Plain(made), Group([run], compiled(run))
            calls = {
                "ours": lambda group=group: [*advance(group, AT_ONCE)],
                "plain": plain.advance,
            }
            times = in_turn(calls, TURNS)
        rate = AT_ONCE / statistics.median(times["ours"])
        print(
            f"{label:30} {rate:8.1f}   {ratio(times, 'plain', 'ours'):.2f} × a plain loop",
            flush=True,
        )


if __name__ == "__main__":
    main()
