"""The task text: the topic, among six, of sixteen words of Python's manual.

The texts are those of `pydoc_data.topics` in Python 3.11.7; other versions have other texts.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import numpy as np
import torch

from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.labels import ALL, FIRST, LAST, Words
from constructions.trained.lstm import LSTMShape
from constructions.trained.models import Shape
from constructions.trained.tasks.classification import Classification
from constructions.trained.tasks.task import Batch
from constructions.trained.transformers import TransformerShape
from theory.kinds import Choice, InputError, checked

TOPICS = "specialnames", "compound", "types", "formatstrings", "string-methods", "typesseq"
SHA256 = "b51a502246fbd12d3037c0d6a5639c352c2dab347fd51d604b8d34a3de628432"
VERSION = "3.11.7"
LENGTH, KNOWN = 16, 255  # words of an input; most frequent words with tokens of their own
TRAINED = 0.8  # fraction of the inputs for training
READ = {"token": FIRST, "last": LAST, "mean": ALL}


@checked
@dataclass(frozen=True)
class Text(Classification, kind="text"):
    """The task of classifying windows of 16 words of Python's manual by topic, among six topics.

    There are 1 892 consecutive windows from the six longest topics; 80 % of the windows are for
    training. Words are runs of symbols a to z. Tokens 0 … 254 are the most frequent words, and
    token 255 stands for all other words. The label is read at an additional first token (`read` =
    "token"), at the last word ("last"), or from the mean output over all words ("mean").
    """

    read: Annotated[str, Choice(tuple(READ))] = "token"

    models = "transformer", "lstm"

    @property
    def examples(self) -> tuple[Batch, Batch]:
        return split_windows()

    def form(self, shape: Shape) -> Form:
        """The properties that a model of this shape must have for the prompts of the task.

        Raises ValueError for an LSTM with `read` = "token", because its output at the first token
        depends on no word.
        """
        if shape.kind == "lstm" and self.read == "token":
            raise InputError("the parameter read is 'token': for an LSTM, give 'last' or 'mean'")
        words = Words(KNOWN + 1, LENGTH, len(TOPICS), READ[self.read])
        positions = words.context if shape.kind == "transformer" else 0
        d_in = KNOWN + 1 + len(words.prefix)
        return Form(words, d_in, len(TOPICS), positions=positions, mask="full", rows=1)

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers, self.read]


@cache
def split_windows() -> tuple[Batch, Batch]:
    """Returns the tokens (…, 16) and topics (…,) of windows for training, and of those held out.

    The windows are in a random order. Raises ValueError if this version of Python has other texts.
    """
    texts = [re.findall("[a-z]+", text.lower()) for text in _texts()]
    counts = Counter(word for text in texts for word in text)
    # Equally frequent words are in alphabetical order, so that the result is deterministic.
    common = sorted(counts, key=lambda word: (-counts[word], word))[:KNOWN]
    number = {word: rank for rank, word in enumerate(common)}
    windows, topics = [], []
    for topic, text in enumerate(texts):
        numbers = [number.get(word, KNOWN) for word in text]
        whole = len(numbers) // LENGTH
        windows.append(np.array(numbers[: whole * LENGTH]).reshape(whole, LENGTH))
        topics += [topic] * whole
    inputs, labels = torch.from_numpy(np.concatenate(windows)), torch.tensor(topics)
    order = torch.from_numpy(np.random.default_rng(0).permutation(len(topics)))
    trained, held_out = order.tensor_split([int(TRAINED * len(topics))])
    return (inputs[trained], labels[trained]), (inputs[held_out], labels[held_out])


def available() -> bool:
    """Whether this version of Python contains the texts of the task."""
    try:
        return bool(_texts())
    except InputError:
        return False


def _texts() -> list[str]:
    from pydoc_data.topics import topics

    texts = [topics.get(name, "") for name in TOPICS]
    found = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    if found != SHA256:
        raise InputError(
            f"the texts of pydoc_data.topics have sha256 {found[:12]}…, not "
            f"{SHA256[:12]}…: use Python {VERSION}"
        )
    return texts


LEARNED = {"steps": 2000, "learning_rate": 1e-3, "batch_size": 64}
PRESETS = presets(
    small=(Text("accuracy", 0.95, "token"), LEARNED, TransformerShape(2, 4, 24, 64)),
) | presets(small=(Text("accuracy", 0.95, "last"), LEARNED, LSTMShape(2, 24)))
