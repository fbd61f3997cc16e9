"""Models that tests make of parts: tokens as they are, an answer at each."""

from constructions.interface import Interface, Prompt
from constructions.transformer import Transformer


class Plain(Interface):
    """Tokens as they are, all of them examples."""

    def check(self, like, *inputs):
        return inputs

    def write(self, xp, *inputs):
        return Prompt(inputs[0], inputs[0].shape[-2])

    def read(self, outputs, *inputs):
        return outputs


def plain(embed, blocks, unembed, stream, **more):
    """A transformer of these parts."""
    given = {"interface": Plain(), "stream": stream, "name": "", "source": ""}
    return Transformer(embed, blocks, unembed, **given | more)
