"""One label for a whole input: an image in patches, or a sequence of words.

The label is the argmax of the mean logits over all tokens, the last token, or an additional first
token (a class token).  As the unembedding is linear, means of logits are logits of means.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from constructions.interface import Interface, Prompt, finite_tensors
from constructions.tokens import Tokens
from theory.kinds import Count, InputError, checked

ALL, LAST, FIRST = slice(None), slice(-1, None), slice(1)


def label(outputs: Tensor) -> Tensor:
    """Returns the predicted labels (…,), int64, for outputs (…, tokens, labels)."""
    return outputs.mean(-2).argmax(-1)


class Patches(Interface):
    """The interface of models that map images (…, side, side) to labels (…,), by patches.

    Tokens are patches of size × size pixels, row by row, each flattened row by row.

    Raises ValueError for a side that is not a multiple of the size, images of another size, and NaN
    or infinite pixels.
    """

    context: int

    @checked
    def __init__(self, side: Count, size: Count, at: slice = ALL) -> None:
        super().__init__()
        self.side, self.size = side, size
        if self.side % self.size:
            raise InputError(
                f"the side of the images is {side}: give a multiple of the side of a patch, {size}"
            )
        self.at, self.context = at, (self.side // self.size) ** 2

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (images,) = finite_tensors(like, inputs, "images")
        if images.shape[-2:] != (self.side, self.side):
            raise InputError(
                f"images have shape {tuple(images.shape)}: give images of shape (…, "
                f"{self.side}, {self.side})"
            )
        return (images,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (images,) = inputs
        size, along = self.size, self.side // self.size
        grid = images.reshape(*images.shape[:-2], along, size, along, size)
        patches = xp.swapaxes(grid, -3, -2).reshape(*images.shape[:-2], self.context, size * size)
        return Prompt(patches, 0, self.at)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return label(outputs)


class Words(Tokens):
    """The interface of models that map tokens (…, T) to one label (…,) below `labels`.

    With `at` = FIRST, the prompt has an additional first token, the class token, and the label is
    read there.
    """

    def __init__(self, vocabulary_size: int, length: int, labels: int, at: slice) -> None:
        prefix = (vocabulary_size,) if at == FIRST else ()
        super().__init__(vocabulary_size, length, prefix=prefix, length=length, labels=labels)
        self.answered = at

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return label(outputs)
