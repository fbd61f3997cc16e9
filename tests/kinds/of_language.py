"""Tables for language; `public.py` documents them."""

from fractions import Fraction

import numpy as np

from constructions.language import string_model
from theory import language

WITHOUT = dict.fromkeys(
    ("theory.language.restricted:tree", "theory.language.tree_value:tree"),
    "a tree is nested, and is checked on the way through it",
)

EXAMPLES = {
    "Log": lambda: language.log(2),
    "LogLinear": lambda: language.log_linear([Fraction(1, 2)] * 2, [[0], [1]]),
    "ParityTree": lambda: language.parity_tree(2, [0, 1]),
    "Source": language.even_process,
}

HALF, EVEN = Fraction(1, 2), (Fraction(1, 2), Fraction(1, 2))
SAYS = {"model": string_model(2, [[0, 1]], [1])}
ARGUMENTS = {
    "theory.language.probabilities_of_seen": {"counts": [1, 2]},
    "theory.language.circuit": {"gates": [(0, 1, 8)]},
    "theory.language.common_scale_loss": {"p": EVEN, "g": EVEN},
    "theory.language.enough_samples": {"tolerance": Fraction(1, 4)},
    "theory.language.is_it_valid": {
        "weights": EVEN, "p": [[1, 0]] * 2, "g": [EVEN] * 2, "valid": [[0]] * 2
    },
    "theory.language.bits_by_elimination": {"parities": [1, 1]},
    "theory.language.coefficients_by_solving": {"tokens": [[0, 1], [0, 1]]},
    "theory.language.levels": {"facts": [0, 1], "unseen": [1]},
    "theory.language.projection": {"p": EVEN},
    "theory.language.restricted": {"tree": (0, 0, 1)},
    "theory.language.restricted_terms": {"terms": [frozenset({(0, 1)})]},
    "theory.language.tree_value": {"tree": (0, 0, 1)},
    "theory.language.seen_once": {"counts": [1, 1]},
    "theory.language.source": {"start": [1], "steps": [[[HALF]], [[HALF]]]},
    "theory.language.terms_by_restriction": {"samples": [{frozenset({(0, 1)})}]},
    "theory.language.tree_by_restriction": {
        "samples": [(np.array([-1, 0]), 1), (np.array([0, -1]), 1)]
    },
    "theory.language.window_cost": {"window": 1},
    "theory.language.window_entropy_by_definition": {"window": 1},
    **{
        f"theory.language.{name}": {"A": [0]}
        for name in ("best_scale", "rescaled", "rescaling_gain")
    },
    "constructions.language.fact_model": {"facts": [[0, 1], [1, 0]], "counts": [1, 2]},
    "constructions.language.log_probabilities": SAYS | {"tokens": [2, 0]},
    "constructions.language.sample": SAYS | {"tokens": [2], "steps": 1},
    "constructions.language.string_model": {"probabilities": EVEN, "strings": [[0, 1], [1, 0]]},
    "constructions.language.string_probabilities": SAYS,
}  # fmt: skip
