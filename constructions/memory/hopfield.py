"""Classical Hopfield networks: a synchronous update is one layer, by its weights or by attention.

The sign.  Let every field be a multiple of g > 0 and s = ±1.  Then

    s' = clip(z, −1, 1),  z = s + 2h/g

is the sign of h where h ≠ 0 (if h ≥ g then z ≥ −1 + 2 = 1, if h ≤ −g then z ≤ 1 − 2 = −1) and s
where h = 0: the update, which keeps the old value at a zero field.  Since clip(z, −1, 1) =
relu(z + 1) − relu(z − 1) − 1 and s = relu(s + 1) − 1, three units a neuron add

    s' − s = relu(z + 1) − relu(z − 1) − relu(s + 1).

On a token whose state and field are 0 they add relu(1) − relu(−1) − relu(1) = 0.

Exactness.  Float64 weights and biases are whole multiples of one power of two; the largest such is
g, so that 2h/g is a sum of whole numbers, as are the sums after it.  While none can exceed 2^53,
nothing is rounded, in whatever order it is added.

By its weights the field is part of the MLP.  Under Hebb's rule it is also linear attention: the
states ask, the patterns answer and are carried, Σ_μ ⟨s, ξ^μ⟩ ξ^μ, and the MLP takes off P·s, which
the zero diagonal leaves out.  Patterns are example tokens, whose states are 0: they get scores of 0
and stay as they are.

Shape glossary: `…` leading dimensions, `P` patterns, `m` states, `d` neurons.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from constructions.assembly import Head, attention, embed, unembed
from constructions.stream import Stream, number
from constructions.transformer import MLP, Block, Transformer
from theory import checks
from theory.checks import InputError
from theory.memory.hopfield import checked_network
from theory.memory.patterns import pattern_rows

EXACT = 2.0**53  # float64 adds whole numbers exactly up to here


class HopfieldNetwork(Transformer):
    """A transformer that is called as a Hopfield network: `model(states)`.

    `patterns` (P, d), if there are any, are the example tokens of every prompt.
    """

    patterns: nn.Parameter | None

    def __init__(
        self, patterns: Tensor | None, blocks: list[Block], *, stream: Stream, name: str
    ) -> None:
        columns = {register: {register: 1.0} for register in ("pattern", "state")}
        if patterns is None:
            del columns["pattern"]
        super().__init__(
            embed(stream, **columns),
            blocks,
            unembed(stream, stream.read("state")),
            stream=stream,
            name=name,
            source="[Hopfield1982]; proved in constructions/memory/hopfield.py",
        )
        self.patterns = None if patterns is None else nn.Parameter(patterns, requires_grad=False)

    def forward(self, states: Any) -> Tensor:
        """The states (…, d) after the model's synchronous updates, started at states (…, d) of ±1.

        Raises ValueError for other entries and for another dimension.
        """
        s = self._input(states)
        tokens, P = self._tokens(s)
        return self.run(tokens, P)[P:].reshape(s.shape)

    def tokens(self, states: Any) -> tuple[Tensor, int]:
        """The prompt (P + m, columns), patterns (ξ, 0) and then states (0, s); and P.

        Without patterns the tokens are the states (m, d), and P is 0.
        """
        return self._tokens(self._input(states))

    def _tokens(self, s: Tensor) -> tuple[Tensor, int]:
        s = s.reshape(-1, s.shape[-1])
        if self.patterns is None:
            return s, 0
        stored = torch.cat([self.patterns, torch.zeros_like(self.patterns)], dim=-1)
        asked = torch.cat([torch.zeros_like(s), s], dim=-1)
        return torch.cat([stored, asked]), len(stored)

    def _input(self, states: Any) -> Tensor:
        given = states.detach().cpu() if isinstance(states, Tensor) else states
        s = checks.signs("states", np.asarray(given))
        checks.vector_shape("states", s.shape, self.stream.widths["state"])
        weights = self.unembed.W_U
        return torch.as_tensor(s, dtype=weights.dtype, device=weights.device)


def hopfield_update(weights: Any, bias: Any = None, steps: int = 1) -> HopfieldNetwork:
    """`hopfield_update(weights, bias, steps)(states)`: exactly `steps` synchronous updates.

    Each is s ← sgn(W s + b), and s where a field is 0: weights (d, d), symmetric and of zero
    diagonal, bias (d,) or none, states (…, d) of ±1 → (…, d).  One layer for each, without heads,
    of 3d units and width d; layers share their weights.  `steps=0` returns the states.

    Raises ValueError for other weights, for steps that are not an integer ≥ 0, and for weights so
    fine for their size that float64 would round their sums.
    """
    network, steps = checked_network(weights, bias), checks.step_count("steps", steps)
    W, b, exponent = _whole(network.weights, network.bias)
    d = len(b)
    stream = Stream(state=d)
    state, _ = stream.matrix(stream.read("state"))
    mlp = _sign_mlp(stream, state @ (np.eye(d) + 2 * W.T), 2 * b)
    biased = " + b" if b.any() else ""
    factor = number(2.0 ** (1 - exponent)) if -1000 < exponent < 1000 else f"2^{1 - exponent}"
    line = f"mlp: clip(state + {factor}·(W·state{biased}), −1, 1) is the state"
    layer = Block(None, mlp, (line,))
    return HopfieldNetwork(
        None, [layer] * steps, stream=stream, name=f"hopfield_update({d} neurons, steps={steps})"
    )


def hebbian_attention(patterns: Any, steps: int = 1) -> HopfieldNetwork:
    """`hebbian_attention(patterns, steps)(states)`: synchronous updates under Hebb's rule.

    The same as `hopfield_update(hebb(patterns), steps=steps)`, but the patterns (P, d) of ±1 are
    tokens of the prompt and not weights: a Hopfield network is linear attention and a sign.  One
    layer of one head for each update, width 3d, 5d units.

    Raises ValueError for other patterns, and for steps that are not an integer ≥ 0.
    """
    given = patterns.detach().cpu() if isinstance(patterns, Tensor) else patterns
    xi, steps = pattern_rows(np.asarray(given)), checks.step_count("steps", steps)
    P, d = xi.shape
    stream = Stream(pattern=d, state=d, field=d)
    pattern, state, field = map(stream.read, stream)
    # Whole fields: g = 1.  Their sizes, at most 2·P·d on the way, are far below 2^53.
    attn = attention(stream, [Head(state, pattern, pattern, "field")], "linear", "examples")
    z, _ = stream.matrix((1.0 - 2 * P) * state + 2 * field)
    mlp = _sign_mlp(stream, z, np.zeros(d), spent="field")
    lines = (
        "head: state asks, pattern answers, pattern added to field",
        f"mlp: clip(state + 2·(field − {P}·state), −1, 1) is the state, field is 0 again",
    )
    return HopfieldNetwork(
        torch.as_tensor(xi, dtype=torch.float64),
        [Block(attn, mlp, lines)] * steps,
        stream=stream,
        name=f"hebbian_attention({P} patterns of dimension {d}, steps={steps})",
    )


def _sign_mlp(stream: Stream, z: np.ndarray, offset: np.ndarray, spent: str | None = None) -> MLP:
    """The units that make `state` clip(H z + offset, −1, 1), and the register `spent` 0."""
    state, _ = stream.matrix(stream.read("state"))
    W_in, b_in = [z, z, state], [offset + 1, offset - 1, np.ones_like(offset)]
    place = stream.placement("state")
    W_out = [place, -place, -place]
    if spent is not None:  # −u = −relu(u) + relu(−u)
        read, _ = stream.matrix(stream.read(spent))
        W_in, b_in = [*W_in, read, -read], [*b_in, 0 * offset, 0 * offset]
        W_out = [*W_out, -stream.placement(spent), stream.placement(spent)]
    return MLP(
        torch.as_tensor(np.concatenate(W_in, axis=1)),
        torch.as_tensor(np.concatenate(b_in)),
        torch.as_tensor(np.concatenate(W_out)),
        torch.zeros(stream.d_model, dtype=torch.float64),
    )


def _whole(weights: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """W/g and b/g, whole numbers in float64, and the exponent of g = 2^exponent, the largest one.

    Raises ValueError if a sum of the units could exceed 2^53: |z ± 1| ≤ 2(Σ|w| + |b|)/g + 2, and
    the sum after it has 2 more.
    """
    joint = np.concatenate([weights, bias[:, None]], axis=1)
    values = joint.astype(np.float64)
    rounded = (values.astype(joint.dtype) != joint).any()  # int64 has 10 bits more
    mantissas, powers = np.frexp(values[values != 0])
    odd = (mantissas * EXACT).astype(np.int64)
    twos = np.log2((odd & -odd).astype(np.float64)).astype(np.int64)
    exponent = int((powers - 53 + twos).min()) if len(odd) and not rounded else 0
    with np.errstate(over="ignore"):
        whole = np.ldexp(values, -exponent)
        # Sums of whole numbers are exact below 2^53, and never rounded down to below it.
        most = 2 * np.abs(whole).sum(axis=1).max() + 4
    if rounded or not most <= EXACT:
        raise InputError(
            f"weights and biases are whole multiples of 2^{exponent}, up to {most / 2:.3g} of them "
            "at one neuron, and float64 adds exactly up to 2^52 = 4.5e+15: round them to fewer "
            "binary places (Hebb's sums without 1/d are whole numbers)"
        )
    return whole[:, :-1], whole[:, -1], exponent
