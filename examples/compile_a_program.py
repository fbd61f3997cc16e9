"""Three programs in RASP as transformers: reverse, sort, and two types of brackets, shuffled.

Compiles the programs, prints the transformers, compares their answers with the values of the
programs by definition, in TransformerLens too if it is installed, and draws their circuits, as the
weights define them: `python examples/compile_a_program.py [FOLDER]`.
"""

from importlib.util import find_spec
from itertools import product

from constructions import Transformer, circuit
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
from verify.output.files import folder_argument, saving

folder = folder_argument(__doc__, "compile_a_program")

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

for name, model in models.items():
    with saving(folder / f"{name}.png") as file:
        circuit(model, by_register=True).draw().savefig(file, dpi=110)
print(f"\npictures: {folder}")
