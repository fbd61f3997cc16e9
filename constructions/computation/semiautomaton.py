"""Every semiautomaton in ⌈log₂T⌉ layers, by composing maps of states in pairs [Liu2023, Theorem 1].

The automaton has n states.  The map of a word sends each state to the state to which the word
leads.  BOS is at position 0, and the symbols are at 1 … T.  After layer ℓ, `map` at token i is the
map of the last 2^ℓ symbols up to i, or of all these symbols if there are fewer.  It is stored as
the image of each state, an integer.  Before layer 1, `map` is the map of the symbol, and at BOS the
identity.

Layer ℓ + 1.  One head looks up position a = i − 2^ℓ, by positions j and their squares:

    score 2a·j − j² = a² − (a − j)²        largest at j = a, by at least 1; for a < 0 at j = 0

The head copies `map` at this position, which is the map of the previous symbols, to `fetched`.  Let
f be `map` and g be `fetched`.  The MLP replaces `map` by q ↦ f(g(q)) and clears `fetched`.  For a
number g = g(q) in 0 … n − 1, f(g) is

lean     f(0) + Σ_t e_t relu(K(g − t) + K/2 + e_t(f(t) − f(t − 1))) − (K/2)g,
         K = 2(n − 1), e_t = (−1)^{t+1}, t = 1 … n − 1.  ReLUs with t ≤ g are active and the others
         are 0, since |f(t) − f(t − 1)| ≤ K/2.  Both factors e_t of f(t) − f(t − 1) cancel, and the
         terms in K add up to K Σ_{t≤g} e_t(g − t + ½) = (K/2)g, which is subtracted.
robust   f(0) + Σ_t [relu(K(g − t) + K/2 + f(t)) − relu(K(g − t) + K/2 + f(t − 1))], K = 4(n − 1).
         If g is within ¼ of an integer, both ReLUs of t are active for t ≤ g and 0 for t > g, so
         that the error of g cancels, and the result is exact at every token.  So a softmax error of
         at most ¼ in a fetched number does not change the result, in any number of layers.

Entries are never negative, so two further kinds of ReLUs, relu(f) and relu(g), clear registers.  In
all there are n² + n ReLUs (lean) or 2n² ReLUs (robust).

Radix r.  With r − 1 heads at distances r^ℓ, 2r^ℓ, …, one layer composes the maps g₁, …, g_{r−1} of
r − 1 earlier windows with f.  For each state q and each path of states s₁, …, s_{r−1} it has a
ReLU, relu(f(s₁) − K[(g₁(s₂) − s₁)² + … + (g_{r−1}(q) − s_{r−1})²]), which is f(s₁) on the path of q
and 0 on other paths.  For these squares the stream contains both g and g².

The logit of state s is 2s·map(q₀) − s², where q₀ is the start.  It is largest at s = map(q₀), by at
least 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Literal

import numpy as np

from constructions.assembly import block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.margins import Restores
from constructions.primitives import Primitive, ReLU
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, placed, sizes
from constructions.transformer import Transformer
from theory.computation.benchmark_automata import Automaton
from theory.computation.prefix_sums import tree_depth
from theory.computation.semiautomata import Semiautomaton, windows
from theory.kinds import Count, CountFrom2, InputError, Positive

Form = Literal["lean", "robust"]


@construction
def semiautomaton(
    automaton: Automaton,
    max_length: Count,
    *,
    form: Form = "lean",
    radix: CountFrom2 = 2,
    sharpness: Positive | None = None,
) -> Transformer:
    """Returns a model of ⌈log₂T⌉ layers that computes the state of an automaton after each symbol.

    Words have at most T = max_length symbols.

    | form, radix | layers     | heads | width          | MLP ReLUs |
    |-------------|------------|-------|----------------|-----------|
    | lean, 2     | ⌈log₂T⌉    | 1     | 2n + 2         | n² + n    |
    | robust, 2   | ⌈log₂T⌉    | 1     | 2n + 2         | 2n²       |
    | lean, r > 2 | ⌈log_r T⌉  | r − 1 | 2rn + 2        | 2n^r + 2rn |

    Here n is the number of states. Each layer composes r = `radix` transition functions of subwords
    into one. The form "lean" is for hardmax attention, and the form "robust" is for softmax
    attention at the inverse temperature `sharpness`. In the robust form, if the sharpness is at
    least ln(32(n − 1) + 2), a head puts at most 1/(8(n − 1)) of its weight on tokens other than the
    token that it retrieves. Then, in real arithmetic, all outputs equal the outputs of unique-hard
    attention, for all T.

    Raises ValueError for a radix above max(2, T), for a robust form with a radix above 2, for a
    sharpness without the robust form, and for a sharpness at which answers could be wrong.
    """
    if form == "robust" and radix > 2:
        raise InputError(f"radix is {radix} with form='robust', which composes pairs: give radix=2")
    if sharpness is not None and form == "lean":
        raise InputError(
            f"sharpness is {sharpness} with form='lean', which is for hard attention: give "
            "form='robust'"
        )
    V, T = sizes(automaton.n_symbols, max_length)
    if radix > max(2, T):
        raise InputError(
            f"radix is {radix}: give a radix of at most {max(2, T)} for words of {T} symbols"
        )
    n, others = automaton.n_states, range(1, radix)
    squared = radix > 2
    held = ("map", "square") if squared else ("map",)
    fetched = {w: tuple(f"{name}{w}" if squared else "fetched" for name in held) for w in others}
    names = (*held, *(name for each in fetched.values() for name in each))
    stream = Stream(**dict.fromkeys(names, n), j=1, norm=1)
    layers = tree_depth(T, radix)
    if squared:
        _units_fit(n, radix)
    units = 2 * n**radix + 2 * radix * n if squared else n * n + (n if form == "lean" else n * n)
    stream.fits(layers, heads=radix - 1, neurons=units)
    words: list[Primitive] = (
        _compositions(stream, n, radix, fetched)
        if squared
        else [_Composed(stream, n, form == "robust")]
    )
    restores = [Restores(("map", "fetched"), {"map": 0.0, "fetched": 0.25})] * (form == "robust")
    maps = np.array([*automaton.transitions, range(n)])
    here, j, norm = np.arange(T + 1), stream.read("j"), stream.read("norm")
    carried = tuple(stream.read(name) for name in held)
    blocks = []
    for layer in range(layers):
        heads = [
            placed(j - float(w * radix**layer) * one, (j, norm), carried, fetched[w])
            for w in others
        ]
        blocks.append(
            block(stream, heads, words, normalise="hardmax", mask="causal", restores=restores)
        )
    states = np.arange(n)
    at_start = Map(2.0 * np.eye(n)[:, [automaton.start]] @ states[None], "2s")
    return Transformer(
        Embed(rows(stream, map=maps, **({"square": maps**2} if squared else {}))),
        blocks,
        unembed(stream, stream.read("map") @ at_start, bias=-(states**2.0)),
        pos_embed=PosEmbed(rows(stream, j=here, norm=here**2)),
        interface=Tokens(V, T, prefix=(V,), labels=n, margin=1.0),
        stream=stream,
        stages=tuple(
            Stage(layer, name, partial(_composed, automaton, radix**layer, power))
            for layer in range(layers + 1)
            for power, name in enumerate(held, start=1)
        ),
        at_most={name: float((n - 1) ** (1 + ("square" in name))) for name in names},
        source="[Liu2023, Theorem 1]",
    ).sharpened(sharpness)


def _composed(automaton: Semiautomaton, window: int, power: int, words: np.ndarray) -> np.ndarray:
    """The entries of the map of the last `window` symbols, raised to a power."""
    return windows(automaton, words, window) ** power


@dataclass(frozen=True)
class _Composed(Primitive):
    """The MLP primitive that replaces f = `map` by q ↦ f(g(q)), and clears g = `fetched`."""

    stream: Stream
    n: int
    robust: bool
    into: tuple[str, ...] = ("map", "fetched")

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        n, g, f = self.n, self.stream.read("fetched"), self.stream.read("map")
        K = (4.0 if self.robust else 2.0) * (n - 1)

        def value(t: int) -> Map:
            return Map(np.eye(n)[:, [t]] @ np.ones((1, n)), f"[{t}]")

        found = list[ReLU]()
        for t in range(1, n):
            beside = K * g + K * (0.5 - t) * one
            now, before = f @ value(t), f @ value(t - 1)
            if self.robust:
                found += [ReLU(beside + now, "map"), ReLU(beside + before, "map", -1.0)]
            else:
                e = 1.0 if t % 2 else -1.0
                found.append(ReLU(beside + e * (now - before), "map", e))
        # relu(f) = f replaces the old map by f(0); relu(g) = g subtracts (K/2)g and clears g.
        eye = np.eye(n)
        first = Map(value(0).matrix - eye, "(f(0) − f)")
        grown = 0.0 if self.robust else K / 2
        away = Map(np.hstack([-grown * eye, -eye]), "away")
        return (*found, ReLU(f, "map", first), ReLU(g, ("map", "fetched"), away))

    def __str__(self) -> str:
        off = ", also if fetched has an error of a quarter" if self.robust else ""
        return f"map becomes map ∘ fetched, and fetched is cleared: exact for states 0 … n − 1{off}"


def _compositions(
    stream: Stream, n: int, radix: int, fetched: dict[int, tuple[str, ...]]
) -> list[Primitive]:
    """ReLUs that compose the maps of `radix` windows, one per path, and clear the old maps.

    The maps and their squares are computed.
    """
    words = list[Primitive]()
    paths = list(product(range(n), repeat=radix - 1))
    for name, largest in (("map", n - 1), ("square", (n - 1) ** 2)):
        K = float(max(largest, 1))
        for q in range(n):
            reading = stream.read(name) @ Map(np.eye(n)[:, [p[0] for p in paths]], "f(s)")
            for w in range(1, radix):
                # Window w sends the state after window w + 1 to s_w; the last window sends q.
                at = [p[w] if w < radix - 1 else q for p in paths]
                wanted = np.array([p[w - 1] for p in paths], dtype=np.float64)
                value, square = map(stream.read, fetched[w])
                picked = np.eye(n)[:, at]
                reading += square @ Map(-K * picked, "−K g²")
                reading += value @ Map(2 * K * picked * wanted, "2K s g")
                reading += one @ Map(-K * (wanted**2)[None], "−K s²")
            column = np.ones((len(paths), 1)) @ np.eye(n)[[q]]
            words.append(ReLU(reading, name, Map(column, f"[{q}]")))
    cleared = {name: stream.read(name) for each in fetched.values() for name in each}
    cleared |= {name: stream.read(name) for name in ("map", "square")}
    words += [ReLU(reading, name, -1.0) for name, reading in cleared.items()]
    return words


def _units_fit(n: int, radix: int) -> None:
    if n**radix > 10**6:
        raise InputError(
            f"radix {radix} takes 2·{n}^{radix} = {2 * n**radix} ReLUs for {n} states: "
            "give a smaller radix"
        )
