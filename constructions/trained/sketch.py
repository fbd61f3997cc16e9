"""A sketch of k cells that is trained: in which cell an item is counted, what that adds to it, in
which cell one reads, and what one answers.

    writes     w(i) = argmax_c of logits (V, k), of which each column is standardised over the items
    adds       the n-th item that is counted in a cell adds δ_n > 0 to it, n = 1, 2, …
    reads      r(i) = argmax_c of other logits (V, k)
    answers    f(value) for the value of cell r(i), f an MLP

Values are ascending in the number of items that were counted, so that δ_n depends on the value that
an update finds, and on nothing else.  As a function of that number alone, no choice of δ tells more
than another.  Standardised columns keep items from crowding into a few cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, softplus

from constructions.interface import Model, Prompt
from constructions.stream import Stream
from constructions.trained.form import SOURCE, Form
from theory.kinds import Count, checked

SLOW = (
    20.0  # times, that logits of writing are larger at first, which makes their rate as much less
)
FAST = 3.0  # times smaller are those of reading kept, which makes their rate as much more
UNIT = 10.0  # of values, as the answering network reads them


@checked
@dataclass(frozen=True)
class SketchShape:
    """`cells` cells, and one layer of `hidden` ReLUs that answers."""

    cells: Count
    hidden: Count
    n_layers: ClassVar[int] = 1

    kind: ClassVar[str] = "sketch"
    words: ClassVar[str] = "a sketch"
    compiles: ClassVar[bool] = False  # its matrices are small
    nonnegative: ClassVar[bool] = False

    def build(self, form: Form, seed: int, task: str) -> SketchNetwork:
        """Logits of writing are normal with deviation 20, those of reading with deviation 1, of
        which a third is kept; every δ is 1, and the answering network as torch draws it."""
        Stream(cells=form.d_in, hidden=self.hidden).fits(self.cells)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return SketchNetwork(self, form.d_in, form.interface)


class SketchNetwork(Model):
    """The stream is what the cells hold, (…, k, 1); the outputs are the answers (…, m, 1)."""

    def __init__(self, shape: SketchShape, items: int, interface: Any) -> None:
        super().__init__()
        self.shape, self.interface = shape, interface
        self.write = nn.Parameter(SLOW * torch.randn(items, shape.cells))
        self.reads = nn.Parameter(torch.randn(items, shape.cells) / FAST)
        self.grows = nn.Parameter(torch.zeros(interface.max_length))
        self.answer = nn.Sequential(
            nn.Linear(1, shape.hidden), nn.ReLU(), nn.Linear(shape.hidden, 1)
        )
        self.name = f"sketch of {items} items in {shape.cells} cells"
        self.source = SOURCE

    @property
    def n_layers(self) -> int:
        """Of cells, one."""
        return 0

    def writes(self) -> Tensor:
        """Where each item is counted, one-hot (V, k), with the gradient of the softmax."""
        spread = self.write.std(0, correction=0, keepdim=True)
        logits = (self.write - self.write.mean(0, keepdim=True)) / (spread + 1e-8)
        soft = logits.softmax(-1)
        return one_hot(soft.argmax(-1), soft.shape[-1]) + soft - soft.detach()

    def reading(self) -> Tensor:
        """Logits of reading, (V, k)."""
        return FAST * self.reads

    def updates(self) -> Tensor:
        """δ_n, n = 1, 2, …, (max_length,): 1 at first."""
        return softplus(self.grows) / softplus(torch.zeros_like(self.grows))

    def held(self, counts: Tensor) -> Tensor:
        """What the cells hold, (…, k), where items were seen so often, (…, V)."""
        hits, steps = counts @ self.writes(), self.updates()
        values = torch.cat([steps.new_zeros(1), steps.cumsum(0)])
        n = hits.detach().round().long()
        slope = steps[n.clamp(max=len(steps) - 1)]
        return values[n] + slope * (hits - hits.detach())

    def unembedding(self, H: Tensor) -> Tensor:
        """f of values (…, 1)."""
        said: Tensor = UNIT * self.answer(H / UNIT)
        return said

    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        tokens: Tensor = prompt.tokens
        items, k = self.write.shape
        stream = tokens[..., : prompt.n_examples - k]
        yield self.held(counted(stream, items).to(self.write))[..., None]

    def seen(self, H: Tensor) -> Tensor:
        return H

    def run(self, prompt: Prompt) -> Tensor:
        items, k = self.write.shape
        [held] = self.residual_stream(prompt)
        queries = prompt.tokens[..., prompt.answers] - items - k
        at = self.reads.argmax(-1)[queries]
        return self.unembedding(held.gather(-2, at[..., None]))


def counted(stream: Tensor, items: int) -> Tensor:
    """How often each item is in streams (…, n), (…, V), as float32."""
    counts = torch.zeros(*stream.shape[:-1], items, device=stream.device)
    return counts.scatter_add(-1, stream, torch.ones_like(stream, dtype=counts.dtype))
