"""Short runs of every kind of model and task, and what they leave in their folders."""

import json
from dataclasses import dataclass, replace

import pytest
import torch

from constructions.seeds import torch_generator
from constructions.trained import (
    Configuration,
    train,
)
from constructions.trained.disentangled import DisentangledShape
from constructions.trained.lstm import LSTMShape
from constructions.trained.quadratic import QuadraticShape
from constructions.trained.tasks.addition import Addition
from constructions.trained.tasks.automata import Automata
from constructions.trained.tasks.bigrams import Bigrams
from constructions.trained.tasks.chomsky import Chomsky
from constructions.trained.tasks.connectivity import Connectivity
from constructions.trained.tasks.hop import Hop
from constructions.trained.tasks.modular import ModularAddition
from constructions.trained.tasks.regression import Regression
from constructions.trained.tasks.task import Corpus, Curriculum, TokenTask
from constructions.trained.training import AT_ONCE
from constructions.trained.transformers import TiedShape, TransformerShape


@dataclass(frozen=True)
class Squares(Corpus, TokenTask, kind="squares"):
    """A table to be memorised: t, then t² modulo a prime."""

    @property
    def corpus(self):
        t = torch.arange(self.vocabulary_size)
        tokens = torch.stack([t, t**2 % self.vocabulary_size], dim=-1)
        return tokens[:, :1], tokens[:, 1:]

    def sequences(self, count, seed):
        rows = torch.randint(self.vocabulary_size, (count,), generator=torch_generator(seed))
        return tuple(part[rows] for part in self.corpus)

    def best(self, tokens, wanted):
        return "best possible: 0 nats"


SHAPE = TransformerShape(1, 2, 8, 16)


TINY = Configuration(Regression(2, 4), SHAPE, 70, 1e-2, batch_size=8, warmup=5, final_rate=0.1)


LINEAR = replace(TINY, shape=TransformerShape(1, 1, 8, 0, layer_norm=False, normalise="linear"))


KINDS = {
    "regression": TINY,
    "curriculum": replace(TINY, task=Regression(3, 6), curriculum=Curriculum(1, 2, 20)),
    "ill-conditioned": replace(TINY, task=Regression(2, 4, "ill-conditioned", 0.5)),
    "lstm": replace(TINY, shape=LSTMShape(2, 8)),
    "linear": LINEAR,
    "hop": replace(TINY, task=Hop(4, 8, 2)),
    "bigrams": replace(TINY, task=Bigrams(3, 8)),
    "automata": replace(TINY, task=Automata("flip-flop", 4, 0.5)),
    "graphs": replace(TINY, task=Connectivity(5, 0.2, "within")),
    "chomsky": replace(TINY, task=Chomsky("stack manipulation", 3)),
    "channels": replace(TINY, task=Connectivity(5, 0.2), shape=DisentangledShape(1, True)),
    "corpus": replace(TINY, task=Squares(13, 1)),
    "sums": replace(TINY, task=Addition(6), shape=TiedShape(1, 2, 8, 16)),
    "modular": replace(TINY, task=ModularAddition(5, 1e-3), shape=QuadraticShape(4)),
}


class Stop(Exception):
    """Someone interrupts."""


def weights(path):
    return path.read_bytes()


def steps_of(folder):
    return [json.loads(line)["step"] for line in (folder / "model.jsonl").read_text().splitlines()]


def losses_of(folder):
    return [json.loads(line)["loss"] for line in (folder / "model.jsonl").read_text().splitlines()]


def compiled(folder):
    return json.loads((folder / "model.json").read_text())["environment"]["compiled"]


def kept(folder):
    return {path.name: weights(path) for path in folder.glob("model-step*.safetensors")}


def interrupted(configuration, folder, after=2 * AT_ONCE, save_every=0, **given):
    """A run that someone interrupts after so many steps."""

    def stop(step, _):
        if step >= after:
            raise Stop

    with pytest.raises(Stop):
        train(configuration, folder, progress=stop, save_every=save_every, **given)


BEGIN = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2], str(Path(sys.argv[2]).parent)
from short_runs import TINY, replace
from constructions.trained import train, training
"""


def ends_as_if_not_interrupted(configuration, folder):
    """A run in two parts has the weights and the log of a whole one."""
    wanted = train(configuration, folder / "whole")
    interrupted(configuration, folder / "parts")
    found = train(configuration, folder / "parts")
    assert weights(found) == weights(wanted)
    assert losses_of(folder / "parts") == losses_of(folder / "whole")
    assert steps_of(folder / "parts") == [20, 40, 60, 70]
