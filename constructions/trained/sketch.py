"""A trained sketch of k cells: an item increments a cell, and a query reads a cell.

    write     item i increments cell w(i), the argmax of logits (V, k) with columns standardised
              over the items
    update    the n-th increment of a cell is δ_n > 0, n = 1, 2, …
    read      a query for item i reads cell r(i), the argmax of other logits (V, k)
    answer    f(value) for the value of cell r(i), with an MLP f

Values increase with the number of increments, so δ_n is a function of the cell's value before the
update.  All choices of δ carry the same information, since the value determines the number of
increments.  Standardised columns keep items from concentrating in a few cells.
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

SLOW = 20.0  # initial scale of the write logits, which divides their effective learning rate
FAST = 3.0  # scale of the read logits' parameters, which multiplies their effective learning rate
UNIT = 10.0  # unit of the values that the answering network reads


@checked
@dataclass(frozen=True)
class SketchShape:
    """The shape of a sketch of `cells` cells, with an answering MLP of `hidden` ReLUs."""

    cells: Count
    hidden: Count
    n_layers: ClassVar[int] = 1

    kind: ClassVar[str] = "sketch"
    words: ClassVar[str] = "a sketch"
    compiles: ClassVar[bool] = False  # its matrices are small
    stacks: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False

    def build(self, form: Form, seed: int, task: str) -> SketchNetwork:
        """Returns the model with initial weights.

        Write logits are normal with standard deviation 20.  Read logits are normal with standard
        deviation 1, and are stored divided by 3. Every increment of a cell is 1, and the MLP has
        torch's default initialisation.
        """
        Stream(cells=form.d_in, hidden=self.hidden).fits(self.cells)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return SketchNetwork(self, form.d_in, form.interface)


class SketchNetwork(Model):
    """A model of a sketch of k cells: items increment cells, and queries read cells.

    The stream contains the values of the cells, (…, k, 1), and the outputs are the answers
    (…, m, 1) to m queries.
    """

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
        """The number of layers, which is 0."""
        return 0

    def writes(self) -> Tensor:
        """The cell, among k, that each of V items increments, as one-hot rows (V, k).

        In gradients, the rows are replaced by a softmax over cells.
        """
        spread = self.write.std(0, correction=0, keepdim=True)
        logits = (self.write - self.write.mean(0, keepdim=True)) / (spread + 1e-8)
        soft = logits.softmax(-1)
        return one_hot(soft.argmax(-1), soft.shape[-1]) + soft - soft.detach()

    def reading(self) -> Tensor:
        """The logits (V, k) of the cell, among k, that a query for each of V items reads."""
        return FAST * self.reads

    def updates(self) -> Tensor:
        """The sizes of the 1st, 2nd, … increment of a cell, (max_length,); initially all are 1."""
        return softplus(self.grows) / softplus(torch.zeros_like(self.grows))

    def cell_values(self, counts: Tensor) -> Tensor:
        """The values of the k cells, (…, k), for `counts` (…, V) of the V items."""
        hits, steps = counts @ self.writes(), self.updates()
        values = torch.cat([steps.new_zeros(1), steps.cumsum(0)])
        n = hits.detach().round().long()
        slope = steps[n.clamp(max=len(steps) - 1)]
        return values[n] + slope * (hits - hits.detach())

    @checked
    def unembedding(self, H: Tensor) -> Tensor:
        """The answers (…, 1) of the last MLP for the values `H` (…, 1) of the cells read."""
        answers: Tensor = UNIT * self.answer(H / UNIT)
        return answers

    @checked
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        tokens: Tensor = prompt.tokens
        items, k = self.write.shape
        stream = tokens[..., : prompt.n_examples - k]
        yield self.cell_values(counted(stream, items).to(self.write))[..., None]

    @checked
    def seen(self, H: Tensor) -> Tensor:
        return H

    def run(self, prompt: Prompt) -> Tensor:
        items, k = self.write.shape
        [values] = self.residual_stream(prompt)
        queries = prompt.tokens[..., prompt.answers] - items - k
        at = self.reads.argmax(-1)[queries]
        return self.unembedding(values.gather(-2, at[..., None]))


def counted(stream: Tensor, items: int) -> Tensor:
    """The counts (…, V), float32, of each of V = `items` items in streams (…, n) of n items."""
    counts = torch.zeros(*stream.shape[:-1], items, device=stream.device)
    return counts.scatter_add(-1, stream, torch.ones_like(stream, dtype=counts.dtype))
