"""A model as JSON for a page, where `static/model.js` runs it in float64, as torch does.

A matrix is its shape and its non-zero entries, row by row: {"shape": [r, c], "at": [places], "is":
[values]}, where a place is row·c + column.  JSON contains the shortest decimal of each double, so
the weights are transferred bit by bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from constructions.attention import Attention
from constructions.blocks import Block
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError

OWN = ("check", "write", "read")  # methods that static/model.js implements, up to `objects`
DRAWS, USUAL = 200, 10  # the number of words from which the first is chosen, and their usual length


def exported(model: Transformer) -> dict[str, Any]:
    """Returns the data with which a page draws and runs a model.

    The entry `tokens` is None if the model is not over tokens. Raises ValueError for a model with
    layer norms, since pages cannot run such models.
    """
    if model.ln_final is not None or any(block.ln1 or block.ln2 for block in model.blocks):
        raise InputError(
            f"{model.name} has layer norms, which pages cannot show: give a model without "
            "layer norms"
        )
    pos = None if model.pos_embed is None else matrix(model.pos_embed.W_pos)
    spans = {name: model.stream[name] for name in model.stream}
    return {
        "name": model.name,
        "source": model.source,
        "registers": [[name, span.start, span.stop] for name, span in spans.items()],
        "W_E": matrix(model.embed.W_E),
        "W_pos": pos,
        "blocks": [_block(block) for block in model.blocks],
        "W_U": matrix(model.unembed.W_U),
        "b_U": None if model.unembed.b_U is None else model.unembed.b_U.tolist(),
        "tokens": _tokens(model.interface),
        "sample": sample(model)[0] if runs(model) else None,
    }


def sample(model: Transformer) -> tuple[list[int], float]:
    """The tokens that a page shows first, and the fraction of positions with an informative answer.

    An informative answer is neither ⊥ nor the token itself. Of several random words, the tokens of
    the word with the largest fraction are returned. If the model has the answer ⊥ and the largest
    fraction is at most one half, only words of full length are considered. The `sample` of an
    interface, if it has one, is returned with the fraction 1.
    """
    interface, rng = model.interface, np.random.default_rng(0)
    if interface.sample is not None:
        return list(interface.sample), 1.0
    most = interface.length or interface.max_length
    for length in (interface.length or max(interface.least, min(most, USUAL)), most):
        slots = (interface.slots or [range(interface.vocabulary_size)] * length)[:length]
        words = np.stack([rng.integers(s.start, s.stop, DRAWS) for s in slots], axis=-1)
        answers = model(words).numpy()
        informative = answers >= 0
        if answers.shape == words.shape:
            informative &= answers != words
        fractions = informative.mean(-1)
        if fractions.max() > 1 / 2 or not interface.bottom:
            break
    return words[fractions.argmax()].tolist(), float(fractions.max())


def runs(model: Transformer) -> bool:
    """Whether a page can run the model: its interface is `Tokens`, up to names of tokens."""
    return _tokens(model.interface) is not None


def matrix(weights: Tensor) -> dict[str, Any]:
    """Returns the shape and the nonzero entries of a matrix."""
    dense = weights.detach().double().numpy()
    places = np.flatnonzero(dense)
    return {
        "shape": list(dense.shape),
        "at": places.tolist(),
        "is": dense.ravel()[places].tolist(),
    }


def _block(block: Block) -> dict[str, Any]:
    attn, mlp = block.attn, block.mlp
    return {
        "lines": list(block.lines),
        "heads": [] if attn is None else [_head(attn, h) for h in range(attn.n_heads)],
        "normalise": None if attn is None else attn.normalise,
        "scale": None if attn is None else attn.scale,
        "mlp": None if mlp is None else _written(dict(mlp.named_parameters())),
        "unit": block.norm is not None,
    }


def _head(attn: Attention, h: int) -> dict[str, Any]:
    own = {name: weights[h] for name, weights in attn.named_parameters()}
    return {"mask": attn.masks[h], **_written(own)}


def _written(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Matrices by their non-zero entries, and biases as lists."""
    return {
        name: matrix(each) if name.startswith("W") else each.tolist()
        for name, each in tensors.items()
    }


def _tokens(interface: Any) -> dict[str, Any] | None:
    if not isinstance(interface, Tokens):
        return None
    stated = _home(interface, "objects")
    if not all(issubclass(stated, _home(interface, name)) for name in OWN):
        return None
    objects, slots = interface.objects(), interface.slots
    named = objects and _named(*objects)
    if objects and not named:
        return None
    whole, ends = interface.answered.stop == 1, None
    if _home(interface, "ends") is not Tokens:
        ended = map(interface.ends, range(interface.max_length + 1))
        ends = [[list(behind), answered.start] for behind, answered in ended]
    follow = interface.n_answers <= interface.vocabulary_size
    if objects:
        follow = [*objects[0]] == [*objects[1]]
    return {
        "vocabulary": interface.vocabulary_size,
        "most": interface.max_length,
        "least": interface.least,
        "length": interface.length,
        "prefix": list(interface.prefix),
        "slots": None if slots is None else [[slot.start, slot.stop] for slot in slots],
        "examples": interface.n_examples,
        "answers": interface.n_answers,
        "whole": whole,
        "bottom": interface.bottom,
        "frequencies": interface.frequencies,
        "objects": named,
        "ends": ends,
        "random": interface.sample is None,
        "continues": follow and interface.length is None and not whole and ends is None,
    }


def _home(interface: Tokens, name: str) -> type:
    """The class that defines a method of an interface."""
    return next(each for each in type(interface).__mro__ if name in vars(each))


def _named(tokens: Sequence[Any], answers: Sequence[Any]) -> dict[str, list[str]] | None:
    """Texts by which tokens are typed, their Python code, and the texts of the answers.

    The texts of tokens are different and have no spaces; the result is None if there are none.
    """
    for text in (str, repr):
        names = ["".join(text(token).split()) for token in tokens]
        if all(names) and len({*names}) == len(names):
            shown = dict(zip(tokens, names, strict=True))
            values = [shown.get(answer, str(answer)) for answer in answers]
            return {"names": names, "code": [repr(token) for token in tokens], "values": values}
    return None
