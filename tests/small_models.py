"""A small model of every public construction, and inputs that it takes."""

from typing import Any

import numpy as np

import constructions
from theory import computation, graphs
from theory.programs.library import reverse

TOPICS = (
    *("arithmetic", "computation", "graphs", "language", "memory", "regression", "retrieval"),
    *("programs", "sensitivity", "structures"),
)
PUBLIC: dict[str, Any] = {
    name: getattr(topic, name)
    for topic in (getattr(constructions, topic) for topic in TOPICS)
    for name in topic.__all__
}
"""What the topics of `constructions` export, of which some is not at the top level."""

MODELS = {
    # builder: its arguments and the inputs
    "newton": ((2, 1, 0.5), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "gradient_descent": ((2, 1, 0.5), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "chebyshev": ((2, 1, 1.0, 2.0), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "hyperpower": ((2, 1, 3, 0.5), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "newton_with_pauses": ((2, 1, 0.5), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "online_gradient_descent": ((2, 2), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "nearest_neighbour": ((2,), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "induction_heads": ((3, 4), ([[0, 1], [1, 2]],)),
    "hop": ((1, 3, 4), ([[0, 1], [1, 2]],)),
    "previous_token": ((3, 4), ([[0, 1], [1, 2]],)),
    "broad_average": ((3, 4), ([[0, 1], [1, 2]],)),
    "in_context_ngram": ((3, 4, 2), ([[0, 1], [1, 2]],)),
    "composition": ((1,), ([[0, 0, 0], [0, 0, 0]],)),
    "fact_lookup": ((16,), ([[0, 1], [1, 2]],)),
    "gridworld_walk": ((2, 4), ([[0, 1], [1, 0]],)),
    "dyck": ((1, 4), ([[0, 1], [1, 0]],)),
    "from_formula": (("once a", "ab", 4), ([[0, 1], [1, 0]],)),
    "circuit_evaluator": ((1, 1), ([[0, 2, 18, 18]],)),
    "turing_machine": ((computation.MACHINES["busy-beaver-2"], 4), ([[0, 1], [1, 0]],)),
    "scratchpad": ((computation.S3, 2), ([[0, 1], [1, 1]],)),
    "prefix_sums": ((4,), ([[0, 1], [1, 1]],)),
    "connected_components": ((2, 2), ([[1, 2], [2, 2]],)),
    "pram": ((computation.list_ranking(2),), ([1, 0],)),
    "parity": ((4,), ([[0, 1], [1, 0]],)),
    "parity_bounded": ((2,), ([[0, 1], [1, 0]],)),
    "first_symbol": ((4,), ([[0, 1], [1, 0]],)),
    "first_symbol_bounded": ((4,), ([[0, 1], [1, 0]],)),
    "majority": ((4,), ([[0, 1], [1, 0]],)),
    "semiautomaton": ((computation.S3, 4), ([[0, 1], [1, 0]],)),
    "shortcut": ((computation.S3, 4), ([[0, 1], [1, 0]],)),
    "squaring": ((2, 1), ([[1, 1], [1, 1]],)),
    "search": ((2,), ([[0, 1], [1, 2]],)),
    "tripling": ((2, 1), ([[1, 1], [1, 1]],)),
    "disentangled": ((2, 1), ([[1, 1], [1, 1]],)),
    "two_cycles": ((1,), (graphs.cycles(8),)),
    "adder": ((7, 5, 0.5), ([[0, 7], [3, 4]],)),
    "linear_adder": ((7,), ([[0, 7], [3, 4]],)),
    "modular_addition": ((5,), ([[0, 4], [3, 4]],)),
    "skip_gram": (([[0.0, 1.0], [1.0, 0.0]], 16), ([[0, 1], [1, 1]],)),
    "hopfield_update": (([[0.0, 1.0], [1.0, 0.0]],), ([[1, -1], [1, 1]],)),
    "hebbian_attention": (([[1, -1], [1, 1]],), ([[1, -1], [1, 1]],)),
    "modern_hopfield_update": (([[1.0, 2.0]], 1.0), ([[1.0, 0.0], [0.0, 1.0]],)),
    "hopfield_attention": (
        ([[1.0, 0.0], [0.0, 1.0]],) * 3,
        ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]),
    ),
    "parity_with_steps": ((2, 2), ([[0, 1], [1, 0]],)),
    "parity_by_linear_tokens": ((2, [0, 1]), ([[0, 1], [1, 0]],)),
    "subset_parity": ((2, [0]), ([[0, 1], [1, 0]],)),
    "conjunction": ((2, [0, 1]), ([[0, 1], [1, 0]],)),
    "junta": ((2, [1], [0, 1]), ([[0, 1], [1, 0]],)),
    "fact_model": ((2, [[0, 0], [0, 1]], [0, 1], [0, 1], "memoriser"), ([[2, 0], [2, 1]],)),
    "string_model": ((2, [[0, 0], [0, 1]], [0, 1]), ([[2, 0], [2, 1]],)),
    "binary_search": ((1,), ([[1], [2]], [[0, 1], [3, 2]])),
    "interpolation_search": ((2, 2), ([[1, 2], [4, 3]], [[0, 1], [3, 2]])),
    "sort": ((2,), ([[0, 1], [1, 0]],)),
    "kd_layout": ((3, 2), ([[0, 1], [1, 0], [1, 1]],)),
    "kd_descent": ((1, 2), ([[1, 2]], [[0, 1], [3, 2]])),
    "bucket_table": ((2, 1), ([[1, 2], [3, 1]], [[0, 1], [3, 2]])),
    "count_min": (([[0, 1], [1, 0]], 2, 100), ([[0, 1], [1, 0]], [[0, 1], [1, 0]])),
    "chomsky_scratchpad": (("compute sqrt", 2), (np.array([[0, 1], [1, 0]]),)),
    "chomsky_task": (("reverse string", 4), (np.array([[0, 1], [1, 0]]),)),
    "compiled": ((reverse(), "ab", 4), (np.array([[0, 1], [1, 0]]),)),
    "sphere_dynamics": ((2, 1.0, 0.5, 2), ([[1.0, 0.0], [0.0, 1.0]],)),
}
