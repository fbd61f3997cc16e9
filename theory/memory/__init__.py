"""Associative memories, and attention as interacting particles: definitions, theorems, capacities.

Patterns and states are rows. A function `…_by_definition` evaluates the defining formula directly.

    patterns          patterns of ±1: random patterns, flipped bits, mixtures, overlaps
    hopfield          classical networks: Hebb's rule, energy, asynchronous and synchronous updates
    small_networks    classical networks with all 2^d states, and their synchronous cycles
    dense             dense associative memories of degree n, and the exponential memory
    capacity          capacities: the thresholds of the theorems
    capacity_curve    measured capacities, with confidence intervals
    modern_hopfield   modern networks: energy, update, separation, Jacobian
    hopfield_balls    modern networks in ball arithmetic: energy, slopes, fixed points
    retrieval_bounds  retrieval errors and storage capacities of modern networks: the theorems
    sphere            self-attention as a flow of tokens on the sphere
    sphere_balls      the flow's velocity, an Euler step and the escape time in ball arithmetic
    orthogonal_start  tokens that start pairwise orthogonal, which satisfy one scalar equation
    hemisphere        tokens in a hemisphere: Wendel's probability, and the rate of clustering
    euclidean         self-attention as a flow in R^d
    kinds             kinds of parameters: patterns, networks, tokens, times
"""

from theory.memory.capacity import (
    CriticalLoad,
    clopper_pearson,
    critical_load,
    dense_patterns,
    exponential_load,
    large_deviation_rate,
    mceliece_patterns,
    retrieval_overlap,
    unstable_bit_limit,
    unstable_bit_probability,
)
from theory.memory.capacity_curve import CapacityCurve, Measured, capacity_curve
from theory.memory.dense import (
    dense_energy,
    dense_preferred,
    dense_preferred_by_definition,
    dense_synchronous_update,
    dense_update,
    exponential_log_energy,
)
from theory.memory.euclidean import EuclideanFlow, euclidean_flow
from theory.memory.hemisphere import (
    cone_diameter,
    hemisphere_pole,
    hemisphere_probability,
    hemisphere_rate,
    in_open_hemisphere,
)
from theory.memory.hopfield import (
    Cycle,
    Relaxation,
    asynchronous_update,
    asynchronous_update_by_definition,
    hebb,
    hebb_fields,
    hebb_synchronous_run,
    hopfield_energy,
    hopfield_fields,
    synchronous_run,
    synchronous_update,
)
from theory.memory.modern_hopfield import (
    basin_radius,
    jacobian,
    modern_hopfield_energy,
    modern_hopfield_step,
    pattern_weights,
    required_separation,
    separation,
)
from theory.memory.orthogonal_start import (
    escape_time,
    orthogonal_gap,
    orthogonal_start,
)
from theory.memory.patterns import flipped, mixture, overlap, random_patterns
from theory.memory.retrieval_bounds import (
    StorageBound,
    cluster_radius,
    contraction_bound,
    failure_bound,
    gap_error_bound,
    retrieval_error_bound,
    stored_patterns_bound,
    union_bound_patterns,
    update_rounding,
)
from theory.memory.sphere import (
    SphereFlow,
    SphereForm,
    mean_length,
    n_clusters,
    smallest_inner_product,
    sphere_energy,
    sphere_flow,
    sphere_velocity,
)

__all__ = [
    "CapacityCurve",
    "CriticalLoad",
    "Cycle",
    "EuclideanFlow",
    "Measured",
    "Relaxation",
    "SphereFlow",
    "SphereForm",
    "StorageBound",
    "asynchronous_update",
    "asynchronous_update_by_definition",
    "basin_radius",
    "capacity_curve",
    "clopper_pearson",
    "cluster_radius",
    "cone_diameter",
    "contraction_bound",
    "critical_load",
    "dense_energy",
    "dense_patterns",
    "dense_preferred",
    "dense_preferred_by_definition",
    "dense_synchronous_update",
    "dense_update",
    "escape_time",
    "euclidean_flow",
    "exponential_load",
    "exponential_log_energy",
    "failure_bound",
    "flipped",
    "gap_error_bound",
    "hebb",
    "hebb_fields",
    "hebb_synchronous_run",
    "hemisphere_pole",
    "hemisphere_probability",
    "hemisphere_rate",
    "hopfield_energy",
    "hopfield_fields",
    "in_open_hemisphere",
    "jacobian",
    "large_deviation_rate",
    "mceliece_patterns",
    "mean_length",
    "mixture",
    "modern_hopfield_energy",
    "modern_hopfield_step",
    "n_clusters",
    "orthogonal_gap",
    "orthogonal_start",
    "overlap",
    "pattern_weights",
    "random_patterns",
    "required_separation",
    "retrieval_error_bound",
    "retrieval_overlap",
    "separation",
    "smallest_inner_product",
    "sphere_energy",
    "sphere_flow",
    "sphere_velocity",
    "stored_patterns_bound",
    "synchronous_run",
    "synchronous_update",
    "union_bound_patterns",
    "unstable_bit_limit",
    "unstable_bit_probability",
    "update_rounding",
]
