"""The task of automata: the state after each symbol of random words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from torch import Generator, Tensor

from constructions.interface import Model
from constructions.seeds import TorchSeed, torch_generator
from constructions.tokens import Tokens
from constructions.trained.configuration import LEARNING, presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.tasks.task import CHUNK, Batch, FreshPrompts, Labelling, PromptCount
from constructions.trained.transformers import TransformerShape
from theory.computation.benchmark_automata import benchmark_automaton
from theory.computation.semiautomata import Semiautomaton, identity
from theory.kinds import Count, InputError, NonNegative, Steps, Within, checked

SLIP = 1 / 16  # the probability of symbols to states that no symbol leaves, if there are others


@checked
@dataclass(frozen=True)
class Automata(Labelling, kind="automata"):
    """The task of tracking the states of a benchmark automaton on words of T = `length` symbols.

    The label of each symbol is the state after this symbol. Symbols are independent [Liu2023].
    Their distribution is uniform, or the symbols that leave every state unchanged have the total
    probability `stay`. A state that no symbol leaves, such as an error state, would be the label
    almost everywhere. Such a state is therefore entered only with probability `SLIP`, if there is
    another symbol.

    A model has 2T positions. A word begins at a random position, uniform among the first T + 1.
    Before the word, the input is token V, where V is the number of symbols; after the word, further
    symbols follow. Only the T symbols of the word have labels. So all positions are trained, but no
    label depends on more than T symbols. Words of 2T symbols are longer than any training word.
    """

    automaton: str
    length: Count
    stay: Annotated[NonNegative, Within(below=1)] | None = None

    def __post_init__(self) -> None:
        machine = benchmark_automaton(self.automaton)
        if self.stay is None:
            return
        if not _stays(machine).any():
            raise InputError(
                f"the parameter stay is {self.stay}, but no symbol of {machine} leaves all states "
                "unchanged: omit `stay`"
            )

    @property
    def machine(self) -> Semiautomaton:
        """The automaton."""
        return benchmark_automaton(self.automaton)

    @property
    def distribution(self) -> np.ndarray:
        """The probability of each symbol in each state, (states, symbols)."""
        machine = self.machine
        table, stays = np.array(machine.transitions).T, _stays(machine)
        weights = np.full(machine.n_symbols, 1 / machine.n_symbols)
        if self.stay is not None:
            weights = np.where(stays, self.stay / stays.sum(), (1 - self.stay) / (~stays).sum())
        kept = (table == np.arange(machine.n_states)[:, None]).all(1)
        probabilities = np.tile(weights, (machine.n_states, 1))
        for row, errs in zip(probabilities, kept[table] & ~kept[:, None], strict=True):
            if errs.any() and not errs.all():
                row[errs] *= SLIP / row[errs].sum()
                row[~errs] *= (1 - SLIP) / row[~errs].sum()
        return probabilities

    def form(self, shape: Shape) -> Form:
        V, n, context = self.machine.n_symbols, self.machine.n_states, 2 * self.length
        return Form(Tokens(V + 1, context, labels=n), V + 1, n, positions=context)

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers, self.automaton, *[f"stay{self.stay}"] * (self.stay is not None)]

    def random_words(self, count: int, seed: int | Generator) -> Batch:
        """Returns random words of 2T symbols and the state after each symbol, both (count, 2T).

        T is `length`.
        """
        generator = torch_generator(seed)
        machine, device = self.machine, generator.device
        # Without the last bound every symbol is below V, whatever the rounding.
        bounds = torch.tensor(self.distribution.cumsum(1)[:, :-1], device=device)
        table = torch.tensor(machine.transitions, device=device)
        drawn = torch.rand((2 * self.length, count, 1), generator=generator, device=device)
        state = torch.full((count,), machine.start, device=device)
        symbols, states = [], []
        for uniform in drawn:
            symbols.append((bounds[state] <= uniform).sum(-1))
            states.append(state := table[symbols[-1], state])
        return torch.stack(symbols, dim=-1), torch.stack(states, dim=-1)

    @checked
    def sequences(self, count: PromptCount, seed: TorchSeed) -> Batch:
        T, device = self.length, seed.device
        symbols, states = self.random_words(count, seed)
        begins = torch.randint(T + 1, (count, 1), generator=seed, device=device)
        place = torch.arange(2 * T, device=device) - begins  # in the word, negative before it
        tokens, wanted = (each.gather(-1, place.clamp(min=0)) for each in (symbols, states))
        inside = (place >= 0) & (place < T)
        return tokens.where(place >= 0, self.machine.n_symbols), wanted.where(inside, -1)

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        return f"best possible: 100.00% right, 0 nats; always the same state: {_commonest(wanted)}"

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields accuracy and cross-entropy on words, then the accuracy on long words.

        On words of 2T symbols, where T = `length`, the accuracy is that on symbols T + 1 to 2T.
        """
        yield from super().evaluate(model, prompts, seed)
        T, (symbols, states) = self.length, self.random_words(prompts, seed)
        outputs = torch.cat([model(chunk) for chunk in symbols.split(CHUNK)])
        right, later = (outputs == states)[:, T:].double().mean(), states[:, T:]
        yield f"symbols {T + 1} to {2 * T} of a word: {float(right):.2%} right"
        yield f"best possible: 100.00% right; always the same state: {_commonest(later)}"


def _stays(machine: Semiautomaton) -> np.ndarray:
    """Which symbols leave every state unchanged, (symbols,)."""
    return np.array([row == identity(machine.n_states) for row in machine.transitions])


def _commonest(states: Tensor) -> str:
    """The fraction of the most frequent state among the labels."""
    counts = states[states >= 0].bincount()
    return f"{float(counts.max() / counts.sum()):.2%}"


PRESETS = presets(
    small=(Automata("parity", 20), LEARNING, TransformerShape(4, 4, 64, 256)),
)
