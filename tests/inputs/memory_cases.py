"""Calls that are refused if their estimate of the memory needed exceeds what is available.

Sizes are such that a call takes about a megabyte and a few milliseconds.
"""

import numpy as np

import constructions as c
from constructions import arithmetic as ca
from constructions import graphs as cg
from constructions import language as cl
from constructions import memory as cm
from constructions import sensitivity as cs
from constructions import structures as cst
from constructions.computation import gridworld_walk
from theory import arithmetic as a
from theory import computation as t
from theory import graphs as g
from theory import language as lang
from theory import memory as m
from theory import regression as reg
from theory import retrieval as r
from theory import sequences as seq
from theory import structures as s
from theory.computation.counting import counting_words

RNG = np.random.default_rng(0)
TOKENS, PATTERNS = RNG.integers(50, size=(10, 100)), RNG.normal(size=(300, 4))
CLOUD, QUERIES = RNG.random((127, 2)), RNG.random((200, 2))
LINE = np.sort(CLOUD[:, 0])
TREES = s.decision_trees(4, 3)
SIGNS = RNG.choice([-1, 1], size=(3, 400))
STREAMS, HASHES = RNG.integers(300, size=(20, 200)), RNG.integers(60, size=(20, 4, 300))
NEURONS = RNG.normal(size=(3, 40, 50))
TABLE = np.zeros((50, 50))
STRINGS = np.arange(400)[:, None] // np.array([30, 1]) % 30
SPECTRUM, FEW = (
    reg.PrefixSpectrum(RNG.random((m, 9, 4)), RNG.random((m, 9)), RNG.random((m, 4)))
    for m in (20, 1)
)
CHANNELS = g.Channels(np.ones((5, 4), dtype=int), np.ones((5, 4), dtype=int))

CASES = {
    "erdos_renyi": lambda: g.erdos_renyi(30, 60, 0.5, 0),
    "from_edges": lambda: g.from_edges([], 400),
    "path": lambda: g.path(400),
    "clique": lambda: g.clique(400),
    "cycles": lambda: g.cycles(100, 300),
    "two_chain": lambda: g.two_chain(400),
    "two_clique": lambda: g.two_clique(400),
    "search_steps": lambda: g.search_steps(np.zeros((20, 60), dtype=int), 100),
    "kronecker": lambda: g.kronecker(CHANNELS, 70),
    "token_frequencies": lambda: r.token_frequencies(TOKENS, 50),
    "skip_gram": lambda: r.skip_gram(TOKENS, TABLE),
    "ngram_counts": lambda: r.ngram_counts(TOKENS, 50, 2),
    "ngram": lambda: r.ngram(TOKENS, 50, 2, 1.0),
    "count_min_error": lambda: s.count_min_error([1500, 1500], [0.5, 0.5], 100, 2),
    "kd_search": lambda: s.kd_search(CLOUD, QUERIES, 60),
    "normal_directions": lambda: s.normal_directions(300, 300, 0),
    "in_equal_buckets": lambda: s.in_equal_buckets(1000, 30, 30),
    "found_in_buckets": lambda: s.found_in_buckets(
        lambda z: (z[..., 0] > 0.5).astype(int), CLOUD, QUERIES, 1000
    ),
    "decision_trees": lambda: s.decision_trees(4, 3),
    "found_at": lambda: s.found_at(TREES, 4),
    "looked_at": lambda: s.looked_at(s.binary_search, LINE, np.tile(LINE, 16), 30),
    "found_at_once": lambda: s.found_at_once(lambda x: np.argsort(x[..., 0]), 60, 3, 10, 0, 16),
    "table_of": lambda: s.table_of(np.arange(300), 100, 0, 300),
    "nearest_in_cloud": lambda: s.nearest_in_cloud(CLOUD, QUERIES),
    "uniform_cloud": lambda: s.uniform_cloud(30, 100, 5, 100, 0),
    "sphere_cloud": lambda: s.sphere_cloud(30, 100, 5, 100, 0, 0.5),
    "uniform_points": lambda: s.uniform_points(100, 200, 200, 0),
    "hard_points": lambda: s.hard_points(100, 8, 200, 0),
    "zipf": lambda: s.zipf(50_000, 1.0),
    "zipf_streams": lambda: s.zipf_streams(10, 100, 100, 1.0, 0),
    "random_hashes": lambda: s.random_hashes(30, 10, 300, 100, 0),
    "separability_inequalities": lambda: a.separability_inequalities(101, 1),
    "adder_logits": lambda: a.adder_logits(50_000, 1.0, 3, 0.0, (1, 2)),
    "least_gap": lambda: a.least_gap(1000, 1.0, 400),
    "printed_matrix": lambda: a.printed_matrix(201),
    "printed_gram": lambda: a.printed_gram(201),
    "fourier_matrix": lambda: a.fourier_matrix(200),
    "fourier_bins": lambda: a.fourier_bins(50_000),
    "modular_neurons": lambda: a.modular_neurons(101),
    "network_logits": lambda: a.network_logits(*NEURONS),
    "few_frequencies_margin": lambda: a.few_frequencies_margin(20_001, [1, 5, 7]),
    "all_circuits": lambda: next(t.all_circuits(3, 5)),
    "random_circuit": lambda: t.random_circuit(10, 1000, 0),
    "adder": lambda: t.adder(200),
    "random_semiautomaton": lambda: t.random_semiautomaton(400, 50, 0),
    "gridworld_walk": lambda: gridworld_walk(80, 80),
    "counting_words": lambda: counting_words(30, 300, 0),
    "shuffled_path": lambda: t.shuffled_path(30_000, 0),
    "random_dyck": lambda: t.random_dyck(30, 600, 2, 0),
    "random_machine": lambda: t.random_machine(40, 40, 0),
    "unary": lambda: t.unary(TOKENS, 300),
    "random_sequences": lambda: seq.random_sequences(300, 300, 5, 0),
    "markov_sequences": lambda: seq.markov_sequences(300, 300, 5, 2, 1.0, 0),
    "adversarial_sequences": lambda: seq.adversarial_sequences(200, 200, 0),
    "restrictions": lambda: lang.restrictions(200, 0.5, 300, 0),
    "hebb": lambda: m.hebb(SIGNS),
    "random_patterns": lambda: m.random_patterns(300, 400, 0),
    "pattern_weights": lambda: m.pattern_weights(PATTERNS, PATTERNS, 1.0),
    "modern_hopfield_step": lambda: m.modern_hopfield_step(PATTERNS, PATTERNS, 1.0),
    "modern_hopfield_energy": lambda: m.modern_hopfield_energy(PATTERNS, PATTERNS, 1.0),
    "jacobian": lambda: m.jacobian(PATTERNS[:, :3], PATTERNS[:, :3], 1.0),
    "gaussian_prompts": lambda: reg.gaussian_prompts(100, 50, 10, seed=0),
    "predictions": lambda: SPECTRUM.newton(range(3000), 0.1),
    "predictions of Chebyshev's method": lambda: SPECTRUM.chebyshev(range(3000), 0.1, 9.0),
    "predictions of ridge regression": lambda: SPECTRUM.ridge(np.arange(1.0, 3000)),
    "predictions of few prompts": lambda: FEW.gradient_descent(range(30_000), 0.1),
    "disentangled": lambda: cg.disentangled(20, 3),
    "search": lambda: cg.search(20, 40),
    "two_cycles": lambda: cg.two_cycles(3),
    "junta": lambda: cs.junta(12, range(12), np.zeros(2**12, dtype=int)),
    "sort": lambda: cst.sort(10_000),
    "kd_layout": lambda: c.kd_layout(4095, 3),
    "modular_addition": lambda: ca.modular_addition(51),
    "parity_with_steps": lambda: cl.parity_with_steps(128, 64),
    "string_model": lambda: cl.string_model(30, STRINGS, [0] * 400),
    "modern_hopfield_update": lambda: cm.modern_hopfield_update(PATTERNS, 1.0)(PATTERNS),
    "hopfield_attention": lambda: cm.hopfield_attention(*[np.eye(4)] * 3)(PATTERNS, PATTERNS),
}
