"""One head that averages the labels of a prompt."""

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Stage
from constructions.call import construction
from constructions.examples import Examples
from constructions.stream import Stream, one
from constructions.transformer import Transformer
from mean_label.theory import by_definition
from theory.kinds import Count


@construction
def mean_of_labels(d: Count) -> Transformer:
    """The mean label of any number of examples.  All scores are 0, so hardmax averages them."""
    stream = Stream(x=d, y=1, estimate=1)
    head = Head(0 * one, 0 * one, stream.read("y"), "estimate")
    return Transformer(
        embed(stream, x={"x": 1.0}, y={"y": 1.0}),
        [block(stream, [head], normalise="hardmax")],
        unembed(stream, stream.read("estimate")),
        interface=Examples(d),
        stream=stream,
        stages=(Stage(1, "estimate", by_definition),),
        source="mean_label/weights.py",
    )
