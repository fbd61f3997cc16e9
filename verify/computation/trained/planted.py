"""Models that have what training is asked to find, for the self-test."""

from __future__ import annotations

from constructions import semiautomaton, shortcut
from theory.computation import NotSolvable, Semiautomaton
from theory.computation.semiautomata import identity
from verify.evidence.checkpoints import Trained


def built(models: list[Trained]) -> list[Trained]:
    """`shortcut`, or where there is none `semiautomaton`, for words as long as models are asked
    about: the token before a word is one more symbol, which leaves every state as it is."""

    def model(machine: Semiautomaton, length: int) -> object:
        more = Semiautomaton((*machine.transitions, identity(machine.n_states)), machine.name)
        try:
            return shortcut(more, length)
        except NotSolvable:
            return semiautomaton(more, length)

    return [Trained(name, model(task.machine, 2 * task.length), task) for name, _, task in models]
