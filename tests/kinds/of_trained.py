"""Tables for trained; `public.py` documents them."""

from constructions import induction_heads
from constructions.trained import Configuration, shipped
from constructions.trained.tasks.hop import Hop
from constructions.trained.transformers import TransformerShape

TASK, SHAPE = Hop(2, 3), TransformerShape(1, 1, 2, 0)
NAME = shipped()[0]

EXAMPLES = {
    "Attention": lambda: induction_heads(2, 4).blocks[0].attn,
    "Task": lambda: TASK,
    "TransformerShape": lambda: SHAPE,
    "Configuration": lambda: Configuration(TASK, SHAPE, steps=1, learning_rate=0.1, batch_size=1),
}

ARGUMENTS = {
    "constructions.trained.preset": {"task": "hop"},
    "constructions.trained.tasks.automata.Automata": {"automaton": "parity"},
    "constructions.trained.load": {"name": NAME},
    "constructions.trained.configuration_of": {"name": NAME},
    "constructions.trained.log_of": {"name": NAME},
    "constructions.trained.sidecar": {"name": NAME},
}
