"""Runs of several seeds in one computation: their weights are the rows of one matrix.

The gradients of all runs are the rows of a second matrix, so one step of the optimiser updates all
runs.  If a step is mostly overhead, the losses of all runs are evaluated at once as well, by
`torch.func.vmap` over the weights and prompts of the runs, whose operations are traced once.
Otherwise arithmetic takes the time: the losses are then evaluated one after the other, so that the
activations of a run stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from constructions.trained.configuration import Configuration
from constructions.trained.process import Process
from constructions.trained.state import MOMENTS, State, trained, views
from constructions.trained.tasks.task import Batch

BETAS = (0.9, 0.98)
SMALL = 3 * 10**8  # operations of the products of a step below which overhead is worth avoiding
EPSILON = 1e-6  # added to norms, as torch does

Loss = Callable[..., Tensor]
Step = Callable[..., tuple[Tensor, tuple[Tensor, ...]]]


class Group:
    """Runs at the same step whose configurations differ in their seeds alone.

    For S runs with P trained weights each, `weights` is the matrix (S, P) of all weights. `loss` is
    a compiled loss of one run, or None. `stacked` states whether all losses are evaluated at once.
    Each run is trained as if it were alone, up to rounding.
    """

    def __init__(self, runs: Sequence[State], loss: Loss | None = None) -> None:
        self.runs = tuple(runs)
        one = self.runs[0]
        size = len(runs), len(one.weights)
        self.weights = nn.Parameter(one.weights.new_zeros(size))
        self.weights.grad = torch.zeros_like(self.weights)
        moments = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        rows = zip(self.weights.detach(), self.weights.grad, *moments, strict=True)
        for run, (weights, gradient, first, second) in zip(self.runs, rows, strict=True):
            run.move(weights, gradient, (first, second))
        self.optimizer = torch.optim.AdamW(
            [self.weights],
            lr=one.configuration.learning_rate,
            betas=BETAS,
            weight_decay=one.configuration.weight_decay,
            fused=True,
        )
        self.optimizer.state[self.weights] = {
            "step": torch.tensor(float(one.step), device=self.weights.device),
            **{name: part.detach() for name, part in zip(MOMENTS, moments, strict=True)},
        }
        self.loss = loss or one.configuration.task.loss
        possible = one.configuration.shape.stacks and one.configuration.task.one_shape
        several = loss is None and len(runs) > 1
        self.stacked = several and possible and _operations(one) < SMALL
        if not self.stacked:
            return
        self._step: Step = self._at_once
        self._shapes: list[torch.Size] = []  # of the batch for which the step was traced
        self._evaluated = _Loss(one.configuration.task, one.model)
        names = [name for name, W in self._evaluated.named_parameters() if W.requires_grad]
        parts = trained(one.model)
        stacked = [W.requires_grad_() for W in views(self.weights.detach(), parts)]
        self._weights = dict(zip(names, stacked, strict=True))
        self._slopes = views(self.weights.grad, parts)
        self._constants = _constants([_Loss(None, run.model) for run in self.runs])

    @property
    def configuration(self) -> Configuration:
        """The configuration of the first run."""
        return self.runs[0].configuration

    @property
    def process(self) -> Process:
        """The process of torchrun that trains the runs."""
        return self.runs[0].process

    @property
    def step(self) -> int:
        """The number of steps of each run."""
        return self.runs[0].step

    def draw(self, steps: int) -> Batch:
        """Returns the prompts of the next steps: tensors whose first dimension is the runs.

        Each run draws its prompts with its own generator, as it does alone.
        """
        made = [run.configuration for run in self.runs]
        count = steps * self.configuration.batch_size
        drawn = [
            each.task.draw(each, count, run.generator, step=run.step)
            for each, run in zip(made, self.runs, strict=True)
        ]
        return tuple(torch.stack(parts) for parts in zip(*drawn, strict=True))

    def backward(self, *batch: Tensor) -> Tensor:
        """Returns the losses (S,) of batches (S, count, …), and adds the gradients to `grad`."""
        if self.stacked:
            return self._backward_at_once(*batch)
        found = []
        for run, *parts in zip(self.runs, *batch, strict=True):
            value = self.loss(run.model, *parts)
            value.backward()
            found.append(value.detach())
        return torch.stack(found)

    def clip(self, most: float) -> None:
        """Scales the gradient of each run to the norm `most`, if its norm is larger."""
        assert self.weights.grad is not None
        norms = torch.linalg.vector_norm(self.weights.grad, dim=-1, keepdim=True)
        self.weights.grad.mul_((most / (norms + EPSILON)).clamp(max=1.0))

    def _backward_at_once(self, *batch: Tensor) -> Tensor:
        weights, shapes = [*self._weights.values()], [part.shape for part in batch]
        if shapes != self._shapes:
            self._step, self._shapes = _traced(self._at_once, weights, *batch), shapes
        with torch.inference_mode():
            values, slopes = self._step(weights, *batch)
            for kept, slope in zip(self._slopes, slopes, strict=True):
                kept += slope
        return values

    def _at_once(
        self, weights: Sequence[Tensor], *batch: Tensor
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The losses of all runs, and the gradients of the stacked weights."""

        def loss(weights: dict[str, Tensor], *batch: Tensor) -> Tensor:
            value: Tensor = functional_call(self._evaluated, weights, batch)
            return value

        given = dict(zip(self._weights, weights, strict=True)) | self._constants
        values = vmap(loss)(given, *batch)
        # Runs do not depend on each other, so the gradient of the sum is that of each loss.
        slopes = torch.autograd.grad(values.sum(), weights, materialize_grads=True)
        return values.detach(), slopes


def _traced(step: Step, weights: Sequence[Tensor], *batch: Tensor) -> Step:
    """The operations of a step on tensors, in the order in which it is evaluated.

    Their results are those of the step, without the overhead of modules, `vmap` and autograd.
    """
    from torch.fx.experimental.proxy_tensor import make_fx

    traced: Step = make_fx(step)(weights, *batch)
    return traced


class _Loss(nn.Module):
    """The loss of a task as a module, whose weights `functional_call` can replace."""

    def __init__(self, task: Any, model: nn.Module) -> None:
        super().__init__()
        self.task, self.model = task, model

    def forward(self, *batch: Tensor) -> Tensor:
        value: Tensor = self.task.loss(self.model, *batch)
        return value


def _constants(models: Sequence[nn.Module]) -> dict[str, Tensor]:
    """The tensors of the models that are not trained and differ between them, stacked."""
    each = [
        {name: W for name, W in model.named_parameters() if not W.requires_grad}
        | dict(model.named_buffers())
        for model in models
    ]
    together = {name: torch.stack([tensors[name] for tensors in each]) for name in each[0]}
    return {name: rows for name, rows in together.items() if not bool((rows == rows[0]).all())}


def _operations(run: State) -> int:
    """The floating-point operations of the products of one step, with its gradients."""
    from torch.utils.flop_counter import FlopCounterMode

    made = run.configuration
    generator = torch.Generator(run.process.device).manual_seed(0)
    batch = made.task.draw(made, made.batch_size // run.process.size, generator, step=0)
    with FlopCounterMode(display=False) as counter:
        made.task.loss(run.model, *batch).backward()
    return counter.get_total_flops()
