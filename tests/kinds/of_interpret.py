"""Tables for verify.interpret; `public.py` documents them."""

import numpy as np

from constructions import gradient_descent, induction_heads
from theory.regression import gaussian_prompts
from verify.interpret import algorithms, outputs, probe
from verify.interpret.comparison import Cell

PROMPTS = gaussian_prompts(20, 4, 2, seed=0)
MODEL = gradient_descent(2, 2, 0.1, causal=True)
HEADS, TOKENS = induction_heads(4, 5), np.tile(np.arange(5) % 4, (4, 1))
STEPS = algorithms(PROMPTS).newton([0, 1, 2])

ANY = "a model of this library, a torch module or a function; checked where it is called"
WITHOUT = {f"verify.interpret.{name}:model": ANY for name in ("attention", "outputs", "probe")}
WITHOUT["verify.interpret.registers:model"] = ANY

EXAMPLES = {
    "Prompts": lambda: PROMPTS,
    "Probes": lambda: probe(MODEL, PROMPTS),
    "ProbedLayers": lambda: outputs(MODEL, PROMPTS),
    "Cell": lambda: Cell("a, 1 steps", "layer 1", np.ones((1, 9))),
}

ARGUMENTS = {
    "verify.interpret.attention": {
        "model": HEADS,
        "tokens": TOKENS,
        "stated": lambda tokens: np.eye(5, dtype=bool),
    },
    "verify.interpret.compare": {
        "probed": outputs(MODEL, PROMPTS),
        "steps": np.arange(3),
        "predictions": STEPS,
    },
    "verify.interpret.contents_of": {"model": HEADS, "tokens": TOKENS},
    "verify.interpret.induced_weights": {"queries": np.ones((20, 3, 2))},
    "verify.interpret.outputs": {"model": MODEL},
    "verify.interpret.patched": {
        "model": HEADS,
        "layer": 1,
        "pattern": np.ones((1, 6, 6)),
    },
    "verify.interpret.predictions_of": {"model": MODEL},
    "verify.interpret.probe": {"model": MODEL},
    "verify.interpret.redirected": {"model": HEADS, "layer": 1, "places": TOKENS},
    "verify.interpret.registers": {
        "model": HEADS,
        "tokens": TOKENS,
        "contents": {"token": TOKENS},
    },
}
