"""Classical Hopfield networks: one layer computes a synchronous update, by an MLP or by attention.

The sign.  Let every field h be a multiple of g > 0 and s = ±1.  Then

    s' = clip(z, −1, 1),  z = s + 2h/g

is the sign of h if h ≠ 0 (if h ≥ g then z ≥ −1 + 2 = 1, if h ≤ −g then z ≤ 1 − 2 = −1), and s if
h = 0, as the update requires. Since clip(z, −1, 1) = relu(z + 1) − relu(z − 1) − 1 and
s = relu(s + 1) − 1, three ReLUs per neuron add

    s' − s = relu(z + 1) − relu(z − 1) − relu(s + 1).

On a token whose state and field are 0 these ReLUs add relu(1) − relu(−1) − relu(1) = 0.

Exactness.  Float64 weights and biases are integer multiples of a power of two; g is the largest
such power, so 2h/g and all later sums are sums of integers.  If none of these sums can exceed 2^53,
nothing is rounded, in any order of summation.  A model in a shorter dtype raises ValueError if the
sums can exceed the limit of this dtype: 2^24 (float32), 2^11 (float16) or 2^8 (bfloat16).

In `hopfield_update` the MLP computes the field from the weights.  Under Hebb's rule the field is
also linear attention, Σ_μ ⟨s, ξ^μ⟩ ξ^μ: the queries are the states, the keys and values are the
patterns, and the MLP subtracts P·s for the zero diagonal.  Patterns are example tokens with states
0.  So the scores of their queries are 0, and their states do not change.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Stage
from constructions.call import construction
from constructions.exactness import quantum_of
from constructions.interface import Draw, as_many
from constructions.primitives import Clip, Move, Primitive, ReLU
from constructions.stream import LinearRead, Map, Stream, one
from constructions.transformer import Transformer
from constructions.vectors import Memory
from theory.kinds import InputError, SignRows, Steps, read
from theory.memory.hopfield import checked_network, hebb, synchronous_update
from theory.memory.kinds import Bias, Patterns, Weights

SOURCE = "[Hopfield1982]"
EXACT = 2.0**53  # float64 adds integers exactly up to here


class Signs(Memory):
    """The interface of Hopfield updates: states (…, d) of ±1 → states (…, d) of ±1.

    `most` bounds all sums of integers that the model computes.  Raises ValueError for entries
    other than ±1, and in a dtype that does not represent all integers up to `most`.
    """

    def __init__(self, d: int, most: float, patterns: Tensor | None = None) -> None:
        super().__init__(d, patterns)
        self.most = most

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (states,) = as_many(inputs, "states")
        if self.most > (limit := 2 / torch.finfo(like.dtype).eps):
            raise InputError(
                f"sums in the fields reach {self.most:.6g}, and {like.dtype} is exact only up to "
                f"{limit:.6g}: use a wider dtype, for example model.double()"
            )
        return super().check(like, read(SignRows, "states", states))

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[Any, ...]:
        """All 2^d states for d ≤ 6, or 64 random states for larger d."""
        few = self.d <= 6
        states = [*product((-1, 1), repeat=self.d)] if few else rng.choice((-1, 1), (64, self.d))
        return (np.array(states), *super().random_inputs(draw, rng)[1:])


@construction
def hopfield_update(weights: Weights, bias: Bias | None = None, steps: Steps = 1) -> Transformer:
    """A model that computes `steps` synchronous updates of a classical Hopfield network.

    `hopfield_update(weights, bias, steps)(states)` maps states s (…, d) of ±1 to the updated states
    (…, d). An update sets all s_i at once, each to the sign of the field h_i, where h = W s + b; if
    h_i = 0, s_i is unchanged. The weights W (d, d) are symmetric with zero diagonal, and the bias b
    has shape (d,). `bias=None` stands for b = 0. The model has width d and one layer per update. A
    layer has no heads and 3d ReLUs, and all layers share their weights. With `steps=0` the model
    returns the states unchanged.

    Raises ValueError for weights that are not symmetric or have a nonzero diagonal, and for
    weights so large that float64 may round a sum.
    """
    network = checked_network(weights, bias)
    W, b, exponent, most = _whole(network.weights, network.bias)
    d = len(b)
    stream = Stream(state=d)
    stream.fits(steps, shared=True)
    state = stream.read("state")
    named = "W" if exponent == 0 else f"(W/2^{exponent})".replace("-", "−")
    z = state + 2 * state @ Map(W.T, named)
    if b.any():
        z = z + 2 * one @ Map(b[None], named.replace("W", "b"))
    layer = block(stream, primitives=_sign(stream, z))
    return Transformer(
        embed(stream, state={"state": 1.0}),
        [layer] * steps,
        unembed(stream, state),
        interface=Signs(d, most),
        stream=stream,
        stages=tuple(
            Stage(k, "state", partial(_updated, network.weights, network.bias, k))
            for k in range(1, steps + 1)
        ),
        source=SOURCE,
    )


@construction
def hebbian_attention(patterns: Patterns, steps: Steps = 1) -> Transformer:
    """A model that computes `steps` updates of a Hebbian Hopfield network by linear attention.

    `hebbian_attention(patterns, steps)(states)` maps states (…, d) of ±1 to the updated states
    (…, d). All coordinates are updated at once (synchronously). The result equals that of
    `hopfield_update(W, steps=steps)` with the Hebbian weights W = `theory.memory.hebb(patterns)`,
    but the patterns (P, d) of ±1 are tokens of the prompt and not weights. The model has width 3d
    and one layer per update. A layer has one head of linear attention and 5d ReLUs.
    """
    P, d = patterns.shape
    stream = Stream(pattern=d, state=d, field=d)
    stream.fits(steps, shared=True)
    pattern, state, field = map(stream.read, stream)
    most = 2.0 * P * (d + 1) + 4  # integer fields, g = 1, of at most P·d
    update = _sign(stream, (1.0 - 2 * P) * state + 2 * field)
    head = Head(state, pattern, pattern, "field")
    return Transformer(
        embed(stream, pattern={"pattern": 1.0}, state={"state": 1.0}),
        [block(stream, [head], [*update, Move(-field, "field")])] * steps,
        unembed(stream, state),
        interface=Signs(d, most, torch.as_tensor(patterns, dtype=torch.float64)),
        stream=stream,
        stages=tuple(
            Stage(k, "state", partial(_updated_by_hebb, patterns, k)) for k in range(1, steps + 1)
        ),
        source=SOURCE,
    )


def _updated(weights: np.ndarray, bias: np.ndarray, steps: int, states: np.ndarray) -> np.ndarray:
    """The states after `steps` updates, (…, d)."""
    for _ in range(steps):
        states = synchronous_update(weights, states, bias)
    return states


def _updated_by_hebb(patterns: np.ndarray, steps: int, states: np.ndarray) -> np.ndarray:
    """The states after `steps` updates under Hebb's rule, (…, d)."""
    return _updated(hebb(patterns), np.zeros(patterns.shape[1]), steps, states)


def _sign(stream: Stream, z: LinearRead) -> list[Primitive]:
    """MLP primitives that replace the state s = relu(s + 1) − 1 by clip(z, −1, 1)."""
    state = stream.read("state")
    old = ReLU(state + one, "state", -1.0)
    return [Clip(z, -1.0, 1.0, "state"), old, Move(one, "state")]


def _whole(weights: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, float]:
    """The integers W/g and b/g, the exponent of g = 2^exponent, and a bound on their sums.

    Raises ValueError if a sum in the ReLUs could exceed 2^53.  The inputs of the ReLUs satisfy
    |z ± 1| ≤ 2(Σ|w| + |b|)/g + 2, and the sum of the outputs is larger by at most 2.
    """
    joint = np.concatenate([weights, bias[:, None]], axis=1)
    values = joint.astype(np.float64)
    rounded = (values.astype(joint.dtype) != joint).any()  # int64 has 10 bits more
    exponent = int(np.frexp(quantum_of(values).min())[1]) - 1 if values.any() and not rounded else 0
    with np.errstate(over="ignore"):
        whole = np.ldexp(values, -exponent)
        # Sums of integers are exact below 2^53, and larger sums are never rounded to below 2^53.
        most = 2 * np.abs(whole).sum(axis=1).max() + 4
    if not most <= EXACT:
        raise InputError(
            f"weights and biases are multiples of u = 2^{exponent}, and their absolute values at "
            f"one neuron add up to {most / 2:.3g}·u, but float64 sums are exact only up to "
            "2^52·u = 4.5e+15·u: round the weights and biases to fewer binary places "
            "(Hebb's sums without 1/d are integers)"
        )
    return whole[:, :-1], whole[:, -1], exponent, float(most)
