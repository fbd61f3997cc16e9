"""Three programs in RASP as transformers: reverse, sort, and two types of brackets, shuffled.

Compiles the programs, prints the transformers, compares their answers with the values of the
programs by definition, in TransformerLens too if it is installed, and draws their circuits, as the
weights define them: `python examples/compile_a_program.py [PICTURE]`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from constructions import Transformer
from constructions.programs import compiled
from constructions.stock import to_lens
from theory.programs import (
    Aggregate,
    Map,
    Select,
    SelectorWidth,
    SOp,
    evaluate,
    indices,
    length,
    tokens,
)
from verify.output.files import picture_argument, saving

target = picture_argument(__doc__, "compile_a_program.png")

N = 5  # the largest length of a sequence

# The token at position n − 1 − i.
opposite = (length - 1 - indices).named("opposite")
reverse = Aggregate(Select(indices, opposite, "=="), tokens, name="reverse")

# Equal tokens keep their order: the number of tokens that are smaller, or equal and earlier.
equal_and_earlier = Select(tokens, tokens, "==") & Select(indices, indices, "<")
rank = SelectorWidth(Select(tokens, tokens, "<") | equal_and_earlier, name="rank")
sort = Aggregate(Select(rank, indices, "=="), tokens, name="sort")


def balance(opening: str, closing: str) -> SOp:
    """The number of opening minus that of closing brackets up to here, divided by all tokens."""
    type_ = opening + closing
    step = Map(lambda token: (token == opening) - (token == closing), tokens, name=f"step {type_}")
    return Aggregate(Select(indices, indices, "<="), step, name=f"balance {type_}")


# Each type of brackets matches on its own, as in ([)].
round_, square = balance("(", ")"), balance("[", "]")
negative = ((round_ < 0) | (square < 0)).named("negative")
anywhere = Aggregate(Select(indices, indices, "true"), negative, name="negative anywhere")
zero = ((round_ == 0) & (square == 0)).named("zero")
at_the_end = Aggregate(Select(indices, length - 1, "=="), zero, name="zero at the end")
shuffle_dyck = (at_the_end & (anywhere == 0)).named("matches")

PROGRAMS = {
    "reverse": (reverse, "abc", "abacc"),
    "sort": (sort, "abc", "cabca"),
    "shuffle-Dyck": (shuffle_dyck, "([)]", "([)]"),
}


@dataclass
class Part:
    """A component: the registers that it reads, by what it reads them for, and writes."""

    name: str
    reads: dict[str, list[str]] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)

    @property
    def used(self) -> set[str]:
        return {*self.writes}.union(*self.reads.values())


def parts(model: Transformer) -> Iterator[Part]:
    """The components of a model in the order of computation, with all weights that are not 0."""

    def touched(rows: np.ndarray) -> list[str]:
        """The registers at which rows (d_model, …) are not 0."""
        return [name for name in model.stream if rows[model.stream[name]].any()]

    yield Part("tokens", writes=touched(model.embed.W_E.numpy().T))
    if model.pos_embed is not None:
        yield Part("positions", writes=touched(model.pos_embed.W_pos.numpy().T))
    for number, block in enumerate(model.blocks, 1):
        if (attn := block.attn) is not None:
            for h in range(attn.n_heads):
                sides = {"Q": attn.W_Q, "K": attn.W_K, "V": attn.W_V}
                reads = {side: touched(W[h].numpy()) for side, W in sides.items()}
                yield Part(f"layer {number}: head", reads, touched(attn.W_O[h].numpy().T))
        if (mlp := block.mlp) is not None:
            W_in, W_out = mlp.W_in.numpy(), mlp.W_out.numpy()
            groups: dict[bytes, list[str]] = {}  # registers that the same neurons write
            for name in touched(W_out.T):
                neurons = W_out[:, model.stream[name]].any(1)
                groups.setdefault(neurons.tobytes(), []).append(name)
            for key, names in groups.items():
                neurons = np.frombuffer(key, dtype=bool)
                label = f"layer {number}: {neurons.sum()} neurons"
                yield Part(label, {"": touched(W_in[:, neurons])}, names)
    yield Part("answer", {"": touched(model.unembed.W_U.numpy())})


def draw(axis: Axes, model: Transformer, title: str) -> None:
    """A column for each register, from its first writer to its last reader; a row for each part."""
    rows = [*parts(model)]
    uses = {name: [y for y, part in enumerate(rows) if name in part.used] for name in model.stream}
    columns = sorted(model.stream, key=lambda name: (name != "bos", uses[name]))
    place = {name: x for x, name in enumerate(columns)}
    for name, x in place.items():
        axis.plot([x, x], [uses[name][0], uses[name][-1]], color="0.75", linewidth=2, zorder=1)
    for y, part in enumerate(rows):
        last = max(place[name] for name in part.used)
        axis.plot([-1, last], [y, y], color="tab:blue", linewidth=0.8, zorder=2)
        for name in part.writes:
            axis.plot(place[name], y, "v", color="tab:red", markersize=10, zorder=3)
        for name in set().union(*part.reads.values()):
            sides = "".join(side for side, read in part.reads.items() if name in read)
            box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "tab:blue"}
            x = place[name] - 0.25 * (name in part.writes)
            axis.text(x, y, sides or "•", fontsize=7, ha="center", va="center", bbox=box, zorder=4)
    axis.set_yticks(range(len(rows)), [part.name for part in rows])
    axis.set_xticks(range(len(columns)), columns, rotation=40, ha="left", rotation_mode="anchor")
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.set_xlim(-1, len(columns) - 0.5)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_title(title, loc="left", fontsize=12, fontweight="bold")
    axis.spines[:].set_visible(False)


def in_lens(model: Transformer, rows: list[list[str]]) -> list[object]:
    """The answers in TransformerLens, whose attention is softmax: at a sufficient sharpness."""
    soft = model.sharpened(1.01 * model.least_sharpness())
    prompt = soft.prompt(rows)
    logits = to_lens(soft)(prompt.tokens)[:, prompt.answers].detach()
    interface = model.interface
    return interface.decoded(interface.read(logits, interface.indices(rows)))


models = {}
for name, (program, vocabulary, shown) in PROGRAMS.items():
    models[name] = model = compiled(program, vocabulary, N)
    sequences = [[[*x] for x in product(vocabulary, repeat=n)] for n in range(1, N + 1)]
    values = [[evaluate(program, x) for x in rows] for rows in sequences]
    found = {"here": [model(rows) for rows in sequences]}
    if find_spec("transformer_lens"):
        found["in TransformerLens"] = [in_lens(model, rows) for rows in sequences]
    print(f"\n{name}\n{model}\n")
    for where, answers in found.items():
        assert answers == values
        count = sum(map(len, sequences))
        print(f"  {where}: the values by definition at all {count} sequences of at most {N} tokens")
    print(f"  {shown} → {' '.join(map(str, model(shown)))}")
if not find_spec("transformer_lens"):
    print("\nTransformerLens is not installed: pip install 'weightwright[lens]'")

drawn = {name: len([*parts(model)]) for name, model in models.items()}
widest = max(len(model.stream.widths) for model in models.values())
figure = Figure(figsize=(0.6 * widest + 3, 0.32 * sum(drawn.values()) + 6), layout="constrained")
axes = figure.subplots(len(drawn), 1, height_ratios=[*drawn.values()])
for axis, (name, model) in zip(axes, models.items(), strict=True):
    draw(axis, model, name)
figure.supxlabel(
    "a column for each register, from its first writer to its last reader: a red triangle writes; "
    "Q, K and V are read as query, key and value, • by neurons or by the unembedding",
    fontsize=9,
)
with saving(target) as file:
    figure.savefig(file, dpi=110)
print(f"\npicture: {target}")
