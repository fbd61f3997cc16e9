"""The translation of a model of this library into a stock class: choices and result.

A translation has two steps: softmax heads of one mask replace all heads (`softened.py`), and the
result is placed between neutral layer norms, in the tensors of a stock class (`neutral.py`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from typing import Any

import torch
from torch import Tensor, nn

from constructions.exactness import hardmax_numbers, stream_square
from constructions.interface import Model
from constructions.softmax import score_sizes
from constructions.stock.bound import error_bound, prompts_bound
from constructions.stock.gadgets import MOST_ORDER, Gadgets, chosen
from constructions.stock.neutral import Doubled
from constructions.stock.short import FLOAT32, chosen_for, is_short, rounding_obstacle
from constructions.stock.softened import beside, largest_square, softened, tokens_read
from constructions.stock.translatable import check_translatable, layer_error
from constructions.tensors import require_finite
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory import machine
from theory.kinds import InputError, Steps, checked

STANDARD = 3  # the order if no error is given
SHARPEST = 2**12
ROUGH = Gadgets(1, 2.0**-10, 36, 1.0, 1.0)  # relative error 10⁻⁶ in float64, without norms
SCORES = 6  # number of tensors, as large as a layer's scores, that a bound needs


@dataclass(frozen=True)
class Plan:
    """The choices of a translation.

    original  the model at the chosen sharpness
    soft      the same model with only softmax heads, all of one mask
    gadgets   the parameters of the translation
    sizes     a bound on the scores of each head of each layer, on the inputs
    square    a bound on ‖v‖² of the stream v at every layer norm
    dtype     the dtype of the stock model
    for_all   whether the error bound is for all prompts
    """

    original: Transformer
    soft: Transformer
    gadgets: Gadgets
    sizes: list[tuple[float, ...]]
    square: float
    dtype: torch.dtype
    for_all: bool

    @property
    def doubled(self) -> Doubled:
        """The tensors of the stock model."""
        return Doubled(self.soft, self.gadgets.constant, self.for_all and is_short(self.dtype))

    def bound(self, *inputs: Any) -> Any:
        """A bound on the distance of the stock model's answers from the original's answers.

        `StockModel.bound` describes the result. A bound for all prompts requires one sharpness for
        all layers.
        """
        if self.for_all:
            sharpness = next((attn.scale for attn in self.original.attentions), 1.0)
            return prompts_bound(self.original, sharpness, self.gadgets, self.square, self.dtype)
        square = largest_square(self.soft, *inputs)
        return error_bound(self.original, self.gadgets, self.sizes, square, self.dtype, *inputs)


class StockModel(Model):
    """A model of this library inside a stock class, with the call of the original.

    `module` is the stock module, and `plan` contains the choices of the translation. The registers
    of the model are those of `plan.soft`; each is half the difference of the two copies of the
    stream. From the last layer with heads on, the registers of models with linear heads have small
    errors only at answered tokens (`softened.tokens_read`).
    """

    def __init__(self, kind: str, module: nn.Module, plan: Plan) -> None:
        super().__init__()
        self.module, self.interface = module, deepcopy(plan.soft.interface).to(plan.dtype)
        self._plan = (plan,)  # in a tuple, so that its tensors are not parameters of this module
        self.stream, self.stages = plan.soft.stream, plan.soft.stages
        self.name, self.source = f"{kind}({plan.original.name})", plan.original.source

    @property
    def plan(self) -> Plan:
        """The choices of the translation."""
        return self._plan[0]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> StockModel:
        """Convert to another device; raises ValueError for a dtype other than the plan's."""
        if fn(self.like.new_empty(0)).dtype != self.plan.dtype:
            raise InputError(
                f"{self.name} was translated for the dtype {_short(self.plan.dtype)}: "
                "translate the model again for another dtype"
            )
        converted: StockModel = super()._apply(fn, recurse)
        return converted

    @property
    def n_layers(self) -> int:
        """The number of layers, equal to that of the original."""
        return self.plan.original.n_layers

    @checked
    def seen(self, H: Tensor) -> Tensor:
        return H

    @checked
    def fits(self, tokens: Steps, positions: Steps) -> None:
        """Raises ValueError for a prompt with more tokens than positions."""
        if tokens > positions:
            raise InputError(
                f"the prompt has {tokens} tokens, but {self.name} has {positions} positions: "
                "translate the model again, with inputs of this length or with more positions"
            )

    def bound(self, *inputs: Any) -> Any:
        """A bound on the distance of the answers from the original model's answers.

        For a model over tokens with proved score gaps, the result is one number, which bounds the
        distance of the logits from the hardmax logits for every prompt. For other models, the
        result has the shape of the answers (for tokens, of the logits), and is a bound on these
        inputs, to first order (`bound.py`); it is ∞ where the errors are not small.

        Raises ValueError for inputs that the model rejects, and without inputs for such other
        models.
        """
        if not self.plan.for_all and not inputs:
            raise InputError(
                f"the bound of {self.name} depends on the inputs: pass the inputs to the method "
                "`bound`"
            )
        if inputs:
            tokens, places = self.prompt(*inputs).tokens, self.plan.soft.pos_embed
            if places is not None:
                self.fits(tokens.shape[-2 if tokens.is_floating_point() else -1], len(places.W_pos))
        return self.plan.bound(*inputs)


def planned(
    model: Any,
    inputs: tuple[Any, ...],
    causal: bool,
    error: float | None,
    dtype: torch.dtype,
    gadgets: Gadgets | None,
) -> Plan:
    """Returns the choices of a translation; `to_encoder` documents arguments and errors."""
    check_translatable(model, causal)
    if not dtype.is_floating_point:
        raise InputError(
            f"dtype is {dtype}: give a real floating-point dtype, such as torch.float64"
        )
    if all_gaps_known(model):
        if inputs:
            model.prompt(*inputs)  # raises ValueError for wrong ones
        return _for_all_prompts(model, causal, error, dtype, gadgets)
    return _for_these(model, inputs, causal, error, dtype, gadgets)


def all_gaps_known(model: Transformer) -> bool:
    """Whether all heads of a model are softmax or hardmax heads with proved score gaps.

    The result is False for a model over numbers without heads, whose numbers have no bound.
    """
    if not (model.attentions or isinstance(model.interface, Tokens)):
        return False
    return all(
        block.attn is None
        or (
            block.attn.normalise in ("softmax", "hardmax")
            and len(block.margins) == block.attn.n_heads
        )
        for block in model.blocks
    )


def _for_all_prompts(
    model: Transformer,
    causal: bool,
    error: float | None,
    dtype: torch.dtype,
    gadgets: Gadgets | None,
) -> Plan:
    """The plan at the model's sharpness, or at the smallest sufficient power of two.

    A sharpness is sufficient if all answers are right and logits are within the error (by default,
    within twice the smallest possible bound).
    """
    # For any sharpness; computed once, as there may be a million positions.
    held = hardmax_numbers(model)
    places, margin = (model.interface.context or 0) + 1, model.interface.margin
    square = stream_square(model, held) + beside(model, places)
    short = is_short(dtype)
    numbers = gadgets or (
        chosen_for(model, square, dtype, held) if short else chosen(1, dtype, 1, square)
    )
    given = {attn.scale if attn.normalise == "softmax" else math.inf for attn in model.attentions}
    if len(given) > 1:
        first, *_, last = sorted(given)
        raise InputError(
            f"the layers of {model.name} have sharpness {first:g} to {last:g}, but error "
            "bounds require the same sharpness in all layers: give "
            f"model.sharpened({first:g})"
        )
    given -= {math.inf}
    sharpnesses = [*given] or [2.0**i for i in range(int(math.log2(SHARPEST)) + 1)]

    def bound(sharpness: float) -> float:
        return prompts_bound(model, sharpness, numbers, square, dtype, held)

    sure = math.inf if margin is None else margin / 2
    bounds = [bound(sharpness) for sharpness in sharpnesses]
    if short:
        soft = softened(model, numbers, score_sizes(model, held), places, causal)
        head_dim = Doubled(soft, numbers.constant).head_dim
        why = [
            rounding_obstacle(model, beta, each, dtype, head_dim, held)
            for beta, each in zip(sharpnesses, bounds, strict=True)
        ]
        enough = next((i for i, each in enumerate(bounds) if each < sure), 0)
        if reason := why[enough]:
            raise InputError(
                f"rounding to {_short(dtype)} may change answers of {model.name} ({reason}): "
                "give a longer dtype, such as float32"
            )
        bounds = [math.inf if w else each for w, each in zip(why, bounds, strict=True)]
    wanted = error if error is not None else 2 * min(bounds)
    fits = [
        beta
        for beta, each in zip(sharpnesses, bounds, strict=True)
        if each <= wanted and each < sure
    ]
    if not fits:
        least = min(bounds)
        right = "" if margin is None else f" (answers are right below {sure:g})"
        raise InputError(
            f"the smallest error bound for the logits of {model.name} in {_short(dtype)} "
            f"is {least:.2g}{right}: {_more(least, margin, dtype)}"
        )
    sharp = model if given else model.sharpened(fits[0])
    sizes = score_sizes(sharp, held)
    soft = softened(sharp, numbers, sizes, places, causal)
    return Plan(sharp, soft, numbers, sizes, square, dtype, True)


def _for_these(
    model: Transformer,
    inputs: tuple[Any, ...],
    causal: bool,
    error: float | None,
    dtype: torch.dtype,
    gadgets: Gadgets | None,
) -> Plan:
    """The plan of the smallest order whose bound on these inputs is within the error.

    θ is first chosen as if all scores were the largest (`chosen`), and then doubled as long as the
    bound on these inputs decreases: most scores are smaller, so that rounding, which decreases with
    1/θ, dominates the error of the method.
    """
    for number, block in enumerate(model.blocks, start=1):
        if block.attn is not None and block.attn.normalise == "hardmax":
            why = "has hardmax heads without proved gaps"
            raise layer_error(model, number, why, "give a model whose heads are linear or softmax")
    if not inputs:
        raise InputError(
            f"the scores of {model.name} have no bound for all inputs: give typical "
            "inputs of the model"
        )
    sizes, tokens = measured(model, *inputs)
    # ‖v‖² hardly depends on the numbers that are chosen for it.
    square = largest_square(softened(model, ROUGH, sizes, tokens + 1, causal), *inputs)
    if not math.isfinite(square):
        raise InputError(
            f"on these inputs, the squared norm of the residual stream of {model.name} overflows: "
            "give smaller inputs"
        )
    orders = range(1, MOST_ORDER + 1) if error is not None else [STANDARD]
    least = math.inf

    def bound(numbers: Gadgets) -> float:
        return float(error_bound(model, numbers, sizes, square, dtype, *inputs).max())

    for order in orders:
        numbers = gadgets or chosen(order, dtype, tokens, square)
        found = bound(numbers)
        while not gadgets:
            wider = replace(numbers, theta=2 * numbers.theta)
            if not (further := bound(wider)) < found:
                break
            numbers, found = wider, further
        least = min(least, found)
        if least <= (sys.float_info.max if error is None else error):
            soft = softened(model, numbers, sizes, tokens + 1, causal)
            return Plan(model, soft, numbers, sizes, square, dtype, False)
    given = "" if error is None else f"error is {error:g}, but "
    raise InputError(
        f"{given}the smallest error bound of {model.name} in {_short(dtype)} on these inputs is "
        f"{least:.2g}: {_more(least, None, dtype)}"
    )


def measured(model: Transformer, *inputs: Any) -> tuple[list[tuple[float, ...]], int]:
    """The largest absolute score of each head on these inputs, and the number of tokens.

    Only the scores of queries whose outputs influence an answer count (`tokens_read`).
    """
    given = model.interface.check(model.like, *inputs)
    prompt = model.interface.write(torch, *given)
    if not prompt.tokens.numel():
        raise InputError("the inputs contain no prompt: give at least one prompt")
    if not prompt.tokens.is_floating_point() and not isinstance(model.interface, Tokens):
        raise InputError(
            f"{model.name} has an interface to which the translation cannot add a sink token: "
            "give a model over vectors, examples or tokens"
        )
    columns = int(prompt.tokens.is_floating_point())
    *leading, T = prompt.tokens.shape[: prompt.tokens.ndim - columns]
    if not range(T)[prompt.answers]:
        raise InputError("the inputs contain no query: give at least one query")
    prompts = math.prod(leading)
    machine.fits_in_memory(
        f"the scores of {prompts} prompts of {T} tokens",
        SCORES * model.like.element_size() * prompts * model.n_heads * T**2,
        "give fewer or shorter prompts",
    )
    stream = list(model.residual_stream(prompt))
    require_finite("the stream of these inputs", *stream)
    sizes = []
    read = tokens_read(model, prompt)
    for block, H, rows in zip(model.blocks, stream[:-1], read, strict=True):
        if (attn := block.attn) is not None:
            found = dict[int, float]()
            for part in attn.parts():
                Q, K = part.queries_keys(H, prompt.n_examples)
                scores = (Q @ K.transpose(-1, -2) * part.scale).abs()
                scores = scores.masked_fill(part.hidden(scores), 0.0)[..., rows, :]
                largest = iter(scores.transpose(0, -3).flatten(1).amax(-1).tolist())
                found |= {h: next(largest) for h, m in enumerate(attn.masks) if m == part.mask}
            sizes.append(tuple(found[h] for h in range(attn.n_heads)))
    if not all(math.isfinite(size) for each in sizes for size in each):
        raise InputError(f"scores of {model.name} overflow on these inputs: give smaller inputs")
    return sizes, T


def rounded(module: nn.Module, plan: Plan) -> nn.Module:
    """Returns the module in the plan's dtype.

    Raises ValueError for a weight that overflows this dtype and, in a short dtype, for a weight
    that is rounded. Only the weights of layer norms may be rounded: these weights are powers of two
    except for the constant ε that a layer norm adds to the variance.
    """
    exact = module.state_dict()
    module = module.to(plan.dtype).eval().requires_grad_(False)
    for name, weights in module.state_dict().items():
        if not weights.isfinite().all():
            raise InputError(
                f"the weight {name} of {plan.original.name} reaches "
                f"{float(exact[name].abs().max()):.3g}, and the largest number of "
                f"{_short(plan.dtype)} is {torch.finfo(plan.dtype).max:.3g}: give a dtype "
                "with a larger range, such as float32 or bfloat16"
            )
    if plan.for_all and is_short(plan.dtype):
        for name, weights in module.state_dict().items():
            if ((weights.double() - exact[name]).abs() > FLOAT32 * exact[name].abs()).any():
                raise InputError(
                    f"the weight {name} of {plan.original.name} is rounded in "
                    f"{_short(plan.dtype)}: give a longer dtype, such as float32"
                )
    return module


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _more(least: float, margin: float | None, dtype: torch.dtype) -> str:
    """The remedy if no smaller error can be guaranteed."""
    longer = "use a longer dtype, such as float64" if dtype != torch.float64 else ""
    if margin is not None and not least < margin / 2:
        return longer or "build the model for shorter prompts"
    if not math.isfinite(least):
        return "give smaller inputs, or a model of fewer steps" + f", or {longer}" * bool(longer)
    enough = float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(least))
    return f"give an error of at least {enough:g}" + f", or {longer}" * bool(longer)
