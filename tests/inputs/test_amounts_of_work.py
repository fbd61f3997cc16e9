"""What a call enumerates: as much as a limit is accepted, and one more is refused.

The limits are far beyond what a test can enumerate, so each is lowered to what a small call needs.
"""

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from refusals import rejects

from constructions import computation as models
from constructions import induction_heads
from constructions.language import string_model
from constructions.programs import compiled
from theory import computation, language, programs, regression, sequences
from theory.computation import S3, flip_flop
from theory.computation.conjunctions import Conjunctions
from theory.computation.counting import And, Not, Symbol
from theory.computation.counting_syntax import parse

HALF = [Fraction(1, 2)] * 2
EVEN = language.even_process()
PAIRS = programs.SequenceMap(lambda a, b: a + b, programs.tokens, programs.indices)
TREE = language.parity_tree(4, [0, 1])
ONES = np.ones((2, 2))

LIMITS = {
    # 4 symbols at a token, each after one of 4
    "contents": (
        ("constructions.computation.hard_attention_circuit", "MOST_CONTENTS", 16),
        lambda: models.to_circuit(induction_heads(4, 4), 4, "and-or"),
        "16 15",
    ),
    "cascades": (
        ("constructions.computation.shortcut", "MOST_UNITS", 9),
        lambda: models.shortcut(flip_flop(2), 4),
        "9 8",
    ),
    # one for `a since b`, one for its disjunction
    "conjunctions": (
        ("constructions.computation.temporal_logic", "MOST_CUBES", 2),
        lambda: models.from_formula("a since b or yesterday a", "ab", 4),
        "2 1",
    ),
    "bits of scores": (
        ("constructions.computation.pram", "FLOAT64_BITS", 7),
        lambda: models.pram(computation.list_ranking(5)),
        "7 processors most",
    ),
    # #a ≥ 1, and without it #b ≥ 2
    "conjunctions of comparisons": (
        ("theory.computation.conjunctions", "MOST", 2),
        lambda: Conjunctions("ab")(parse("#a >= 1 | #b >= 2")),
        "formula 1",
    ),
    "machines": (
        ("theory.computation.attention_rounds", "MOST_MACHINES", 2 * 2),
        lambda: computation.attention_in_rounds(*[[[1], [1]]] * 3, [[True, True]] * 2, 2),
        "2 tokens 4 3",
    ),
    "parts": (
        ("theory.computation.counting", "LARGE", 4),
        lambda: And((Symbol("a"), Not(Symbol("b")))),
        "4 3",
    ),
    "depth": (
        ("theory.computation.counting", "NESTED", 3),
        lambda: And((Symbol("a"), Not(Symbol("b")))),
        "3 2",
    ),
    "states": (
        ("theory.computation.holonomy", "MOST_STATES", S3.n_states),
        lambda: computation.cascade(S3),
        "states",
    ),
    "permutations": (
        ("theory.computation.holonomy", "MOST_PERMUTATIONS", 6),
        lambda: computation.cascade(S3),
        "5",
    ),
    # two states each, three symbols
    "products": (
        ("theory.computation.semiautomata", "MOST_ENTRIES", 2 * 2 * 3),
        lambda: computation.product(flip_flop(2), flip_flop(2)),
        "automata 12 11",
    ),
    "subcubes": (
        ("theory.computation.subcubes", "MOST_SUBCUBES", 3**3),
        lambda: computation.largest_constant_subcube([0, 1, 1, 0] * 2, 2),
        "3^3 26",
    ),
    "texts": (
        ("theory.language.decisions", "MOST", 2**3),
        lambda: language.most_probable_text(EVEN, 3),
        "length 2^3",
    ),
    "facts": (
        ("theory.language.documents", "MOST", 2**3),
        lambda: language.fact_strings(2, 3, 0),
        "2^3",
    ),
    "pairs of wires": (
        ("theory.language.gates", "MOST_PAIRS", 4 * 3 // 2),
        lambda: language.GateLearner(2, np.zeros((1, 4), dtype=int)),
        "4 5",
    ),
    "atoms": (
        ("theory.language.head_cover", "MOST_ATOMS", 2 * 3),
        lambda: language.nearest_in_cover([Fraction(0)] * 2, Fraction(1), 3),
        "q k",
    ),
    # node 4 sees 4 bits of each of 2 words
    "words of a step": (
        ("theory.language.one_gradient_step", "MOST", 2 * 4),
        lambda: language.gradient(TREE, 4, np.ones((2, 4))),
        "bits 8",
    ),
    "words": (
        ("theory.language.sources", "MOST", 2**3),
        lambda: language.window_entropy_by_definition(EVEN, 3, 1),
        "t 2^3",
    ),
    # after 0, after 01, after 11
    "beliefs": (
        ("theory.language.sources", "BELIEFS", 3),
        lambda: language.conditional_entropy(EVEN, 3),
        "t 2",
    ),
    "corpora": (
        ("theory.language.good_turing", "MOST", 2**3),
        lambda: language.moments_by_definition(HALF, 3),
        "2^3",
    ),
    "symbols": (
        ("constructions.language.string_model", "MOST", 3),
        lambda: string_model(2, [[0, 1, 1]], HALF[:1]),
        "strings",
    ),
    "products of matrices": (
        ("theory.regression.hyperpower", "MOST_PRODUCTS", 2 * 3),
        lambda: regression.hyperpower(ONES, ONES[0], 2, 3, 0.1),
        "k order",
    ),
    "entries of sequences": (
        ("theory.sequences", "LARGEST", 3 * 2**3),
        lambda: sequences.all_sequences(3, 2),
        "2^3",
    ),
    "tables of chains": (
        ("theory.sequences", "LARGEST", 5 * 2**3),
        lambda: sequences.markov_sequences(5, 4, 2, 3, 1.0, 0),
        "5 2^3",
    ),
    # 3 tokens at 4 positions
    "combinations": (
        ("theory.programs.domains", "MOST", 3 * 4),
        lambda: compiled(PAIRS, [0, 100, 200], 4),
        "11",
    ),
    "lengths": (
        ("constructions.programs.compiler", "MOST", 4),
        lambda: compiled(programs.tokens, "abc", 4),
        "max_length 4",
    ),
    "vocabularies": (
        ("constructions.programs.compiler", "MOST", 3),
        lambda: compiled(programs.tokens, "abc", 1),
        "vocabulary 2",
    ),
}


@pytest.mark.parametrize("of", LIMITS)
def test_as_much_as_the_limit_and_one_more(of, monkeypatch):
    (module, limit, needed), call, names = LIMITS[of]
    monkeypatch.setattr(import_module(module), limit, needed)
    call()
    monkeypatch.setattr(import_module(module), limit, needed - 1)
    with rejects(*names.split()):
        call()
