"""Language: losses of next-token models, bounds on hallucination, and sample complexity.

logs, log_linear, rescaling     exact entropies, log-linear families, calibration
sources, worlds, documents      distributions of strings and facts, with exact probabilities
string_distributions            a model's probabilities of all strings, compared with the source's
good_turing, hallucination      the mass of unseen facts, and bounds on hallucination
is_it_valid                     generation reduced to classifying valid responses
decisions                       sampling compared with the argmax
head_cover, certificates, sparse_and
                                how many examples determine an attention head
parity_tree, one_gradient_step  a parity by chain of thought, and the gradient at its nodes
linear_tokens                   a parity in ⌊log₂ k⌋ + 1 thresholds of linear forms
gates, restriction_access       learners whose outputs are always right
direct_gradients                the part of a gradient that depends on a parity without CoT
"""

from theory.language.certificates import error_between, largest_scores, vote_bound
from theory.language.decisions import (
    distance_of_greedy,
    errors,
    excess_error,
    greedy_text,
    most_probable_text,
    most_sampling_error,
)
from theory.language.direct_gradients import (
    bits_by_elimination,
    least_step_signal,
    mean_signal_bound,
    signals,
)
from theory.language.distributions import distributions_on_grid
from theory.language.documents import fact_strings, probabilities_of_seen
from theory.language.gates import (
    FUNCTIONS,
    Circuit,
    GateLearner,
    circuit,
    enough_examples,
    hypotheses,
    random_circuit,
)
from theory.language.good_turing import (
    deviation_bound,
    mean_difference,
    mean_square,
    moments_by_definition,
    most_mean_difference,
    most_mean_square,
    seen_and_once,
    seen_once,
    uniform_mean_square,
)
from theory.language.hallucination import (
    Levels,
    bound_given_corpus,
    expected_bound,
    expected_prompted_bound,
    levels,
    printed_bound,
    printed_prompted_bound,
    printed_slack,
    prompted_bound_given_data,
)
from theory.language.head_cover import (
    cover_radius,
    head,
    log_cover_size,
    margin_certificate,
    nearest_in_cover,
    occam,
)
from theory.language.is_it_valid import IsItValid, is_it_valid
from theory.language.linear_tokens import (
    coefficients_by_solving,
    linear_tokens,
    tokens_by_regression,
)
from theory.language.log_linear import LogLinear, log_linear, projection, separating_direction
from theory.language.logs import Log, at_most_rational, binary_kl, cross_entropy, entropy, kl, log
from theory.language.one_gradient_step import (
    enough_samples,
    gradient,
    gradient_by_counting,
    gradient_in_closed_form,
    link,
    noise_tolerance,
    one_step,
    relations,
)
from theory.language.parity_tree import ParityTree, parity_tree, tree_sizes, with_steps
from theory.language.rescaling import (
    best_scale,
    calibration_gain,
    closest_common_scale,
    common_scale_loss,
    level_sets,
    miscalibration,
    over_confidence,
    rescaled,
    rescaling_gain,
)
from theory.language.restriction_access import (
    Term,
    Tree,
    enough_for_terms,
    enough_restrictions,
    random_tree,
    restricted,
    restricted_terms,
    restrictions,
    terms_by_restriction,
    tree_by_restriction,
    tree_value,
)
from theory.language.sources import (
    Source,
    conditional_entropy,
    entropy_rate,
    even_process,
    source,
    window_cost,
    window_entropy_by_definition,
)
from theory.language.sparse_and import (
    Conjunction,
    attention,
    attention_parameters,
    balanced_accuracy,
    binary_entropy,
    elimination,
    false_bits,
    greatest_probability,
    l1_logistic,
    least_samples,
    log_choices,
    logistic,
    random_conjunction,
)
from theory.language.string_distributions import StringDistributions
from theory.language.worlds import Prompted, World, prompted, world

__all__ = [
    "FUNCTIONS",
    "Circuit",
    "Conjunction",
    "GateLearner",
    "IsItValid",
    "Levels",
    "Log",
    "LogLinear",
    "ParityTree",
    "Prompted",
    "Source",
    "StringDistributions",
    "Term",
    "Tree",
    "World",
    "at_most_rational",
    "attention",
    "attention_parameters",
    "balanced_accuracy",
    "best_scale",
    "binary_entropy",
    "binary_kl",
    "bits_by_elimination",
    "bound_given_corpus",
    "calibration_gain",
    "circuit",
    "closest_common_scale",
    "coefficients_by_solving",
    "common_scale_loss",
    "conditional_entropy",
    "cover_radius",
    "cross_entropy",
    "deviation_bound",
    "distance_of_greedy",
    "distributions_on_grid",
    "elimination",
    "enough_examples",
    "enough_for_terms",
    "enough_restrictions",
    "enough_samples",
    "entropy",
    "entropy_rate",
    "error_between",
    "errors",
    "even_process",
    "excess_error",
    "expected_bound",
    "expected_prompted_bound",
    "fact_strings",
    "false_bits",
    "gradient",
    "gradient_by_counting",
    "gradient_in_closed_form",
    "greatest_probability",
    "greedy_text",
    "head",
    "hypotheses",
    "is_it_valid",
    "kl",
    "l1_logistic",
    "largest_scores",
    "least_samples",
    "least_step_signal",
    "level_sets",
    "levels",
    "linear_tokens",
    "link",
    "log",
    "log_choices",
    "log_cover_size",
    "log_linear",
    "logistic",
    "margin_certificate",
    "mean_difference",
    "mean_signal_bound",
    "mean_square",
    "miscalibration",
    "moments_by_definition",
    "most_mean_difference",
    "most_mean_square",
    "most_probable_text",
    "most_sampling_error",
    "nearest_in_cover",
    "noise_tolerance",
    "occam",
    "one_step",
    "over_confidence",
    "parity_tree",
    "printed_bound",
    "printed_prompted_bound",
    "printed_slack",
    "probabilities_of_seen",
    "projection",
    "prompted",
    "prompted_bound_given_data",
    "random_circuit",
    "random_conjunction",
    "random_tree",
    "relations",
    "rescaled",
    "rescaling_gain",
    "restricted",
    "restricted_terms",
    "restrictions",
    "seen_and_once",
    "seen_once",
    "separating_direction",
    "signals",
    "source",
    "terms_by_restriction",
    "tokens_by_regression",
    "tree_by_restriction",
    "tree_sizes",
    "tree_value",
    "uniform_mean_square",
    "vote_bound",
    "window_cost",
    "window_entropy_by_definition",
    "with_steps",
    "world",
]
