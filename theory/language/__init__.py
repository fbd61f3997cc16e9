"""Language: what learning gains by worked steps, and what generalises.

parity_tree        the parity of k among d bits as a binary tree of parities of two
one_step           the gradient of its steps, in closed form, over a cube, and for any size
linear_tokens      the parity in ⌊log₂ k⌋ + 1 thresholds of linear forms
gates              a circuit learned gate by gate, never wrong
restriction        trees and DNF formulas learned from random restrictions
direct_gradients   what a gradient says of a parity without steps
"""

from theory.language.cover import (
    cover_radius,
    head,
    log_cover_size,
    margin_certificate,
    nearest_in_cover,
    occam,
)
from theory.language.direct_gradients import letters_by_elimination, mean_signal_bound, signals
from theory.language.gates import (
    FUNCTIONS,
    Circuit,
    GateLearner,
    circuit,
    enough_examples,
    hypotheses,
    random_circuit,
)
from theory.language.linear_tokens import letters_by_solving, linear_tokens
from theory.language.one_step import (
    enough_samples,
    gradient,
    gradient_by_counting,
    gradient_in_closed_form,
    link,
    one_step,
    relations,
    room_for_noise,
)
from theory.language.parity_tree import ParityTree, parity_tree, with_steps
from theory.language.restriction import (
    Term,
    Tree,
    enough_for_terms,
    enough_restrictions,
    random_tree,
    restricted,
    restricted_terms,
    restrictions,
    says,
    terms_by_restriction,
    tree_by_restriction,
)
from theory.language.sparse_and import (
    Conjunction,
    attention,
    attention_parameters,
    balanced_accuracy,
    elimination,
    entropy,
    false_bits,
    l1_logistic,
    least_samples,
    logistic,
    random_conjunction,
)

__all__ = [
    "FUNCTIONS",
    "Circuit",
    "Conjunction",
    "GateLearner",
    "ParityTree",
    "Term",
    "Tree",
    "attention",
    "attention_parameters",
    "balanced_accuracy",
    "circuit",
    "cover_radius",
    "elimination",
    "enough_examples",
    "enough_for_terms",
    "enough_restrictions",
    "enough_samples",
    "entropy",
    "false_bits",
    "gradient",
    "gradient_by_counting",
    "gradient_in_closed_form",
    "head",
    "hypotheses",
    "l1_logistic",
    "least_samples",
    "letters_by_elimination",
    "letters_by_solving",
    "linear_tokens",
    "link",
    "log_cover_size",
    "logistic",
    "margin_certificate",
    "mean_signal_bound",
    "nearest_in_cover",
    "occam",
    "one_step",
    "parity_tree",
    "random_circuit",
    "random_conjunction",
    "random_tree",
    "relations",
    "restricted",
    "restricted_terms",
    "restrictions",
    "room_for_noise",
    "says",
    "signals",
    "terms_by_restriction",
    "tree_by_restriction",
    "with_steps",
]
