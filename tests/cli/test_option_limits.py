"""Limits of options: their first and last values are accepted, and those beyond them refused."""

from collections import defaultdict
from typing import Any, get_args

import pytest
from refusals import rejected, rejects

from verify.claim import Claim
from verify.ledger.claims import installed, loaded

LIMITS = """
adder: largest 10…1250, step 1…5, bits 1…1074
attention-is-hopfield: d 1…200, n_patterns 1…200, beta …1e+100
attention-patterns: vocabulary_size 1…1000, max_length 1…4096, samples 1…100000
automata: states 1…64, max_length 2…4096, samples 1…10000
automata-trained: words 20…10000
chebyshev: k 1…5000, d 1…500, n 1…10000, samples 1…100000
chomsky: max_length 4…500, samples 1…100000
chomsky-trained: inputs 80…100000
circuits-by-chain-of-thought: n_inputs 1…12, n_gates 1…1000, samples 1…10000
clustering: n 2…1000, d 2…1000, samples 1…100000
comb: p 20…10000
components: n_nodes 2…200, samples 1…10000
composition: n_points 1…1000, samples 1…100000, texts 1…100000
connectivity: n_nodes 2…40, n_layers 1…4, samples 1…100000
connectivity-depth: samples 100…100000
connectivity-layers: diameter 2…64, samples 1…1000
connectivity-trained: samples 100…100000
connectivity-wall: n_nodes 11…24, samples 1…10000
constant-depth-circuits: max_length 4…14, samples 1…10000
counting: depth 0…8, max_length 2…4096, samples 1…10000
dense-memory: samples 1…10000
depth: largest_k 0…100, largest_condition 1…
digits-sensitivity: images 50…1297
direct-gradients: d 2…10, bits 20…200
dyck: types 1…30, depth 1…10000, max_length 2…4096, samples 1…10000
extra-space: n_points 2…12, n_cells 1…64, samples 100…1000000
first: max_length 2…4096, samples 1…10000
fourier-filters: largest 10…1250, step 1…5
fourier-matrix: p 3…2001
good-turing: facts 2…1000000, documents 2…50000, worlds 20…10000
gradient-descent: k 1…10000, d 1…500, n 1…10000, samples 1…100000
graph-search: n_nodes 2…256, samples 1…10000
gridworld: steps 1…64, start 0…64, max_length 2…4096, samples 1…10000
hallucination: facts 2…10000000, strings 4…1000000000000000, documents 1…10000000
hallucination: samples 100…1000000
hard-attention-cannot: max_length 4…14, samples 1…10000
hashing: samples 100…100000
head-cover: d 1…200, k 1…1000
hop: k 1…10000, vocabulary_size 1…1000, max_length 1…4096, samples 1…100000
hopfield: d 1…10000, samples 1…10000
hyperpower: k 0…100, order 2…1000, d 1…500, n 1…10000, samples 1…100000
ill-conditioned: samples 20…100000
induced-weights: samples 20…10000
induction: vocabulary_size 1…1000, max_length 1…4096, samples 1…100000
induction-trained: samples 20…100000
is-it-valid: instances 10…100000
layers: samples 20…100000
layouts: levels 2…4, samples 500…100000
learned-clouds: samples 500…100000
learned-comparisons: samples 100…1000000
learned-digits: samples 500…100000
learned-gates: n_inputs 2…64, n_gates 1…128, n_examples 1…10000
learned-layout: samples 1000…100000
learned-search: samples 100…1000000
learned-sketch: samples 500…10000
learned-space: samples 1000…100000
learned-tree: samples 500…1000000
linear-depth: samples 100…1000000
linear-tokens: d 1…256, k 1…256, samples 1…100000
log-linear: draws 2…1000
lstm: samples 20…100000
majority: max_length 2…4096, samples 1…10000
modern-hopfield: d 1…1000, n_patterns 1…1000, beta …1e+100, samples 1…10000
modular-margin: p 3…61
nearest-neighbour: d 1…1000, n 1…1000, sharpness …1e+100, samples 1…100000
newton: k 0…10000, d 1…500, n 1…10000, samples 1…100000
newton-on-data: k 0…10000
newton-or-gd: samples 20…100000
newton-pauses: k 0…1000, d 1…500, n 1…10000, samples 1…100000
ngram: order 1…20, pseudo_counts 0…10000, vocabulary_size 1…1000
ngram: max_length 1…4096, samples 1…100000
noisy: samples 20…100000
number-embeddings: permutations 100…100000
ols: d 2…500
one-gradient-step: d 8…128, k 4…128
one-layer: n_tokens 5…4097, n_heads 1…1000
online-gradient-descent: d 1…500, n 1…10000, samples 1…100000
parity: max_length 2…4096, samples 1…10000
parity-trained: words 2000…50000
parity-with-steps: d 2…256, k 2…256, samples 1…100000
prefix-sums: length 2…4096
program: max_length 1…500, samples 1…1000000
random-weights: draws 10…10000
rates: d 2…64, digits 20…100000
register-programs: programs 1…10000
restriction-access: d 3…64, n_leaves 2…41, width 1…8
rounds: n 2…1000, programs 1…10000
sampling-or-argmax: draws 2…10000
scratchpad: states 1…1000, length 2…4096, samples 1…10000
search: lookups 2…6, samples 100…10000000
sensitivity: d 5…14, samples 100…1000000
sensitivity-regulariser: images 50…1297
shortcut: states 1…8, max_length 2…4096, samples 1…10000
sketches: samples 500…10000
sparse-and: bits 50…1000
sparse-and-growth: bits 100…800
spectral-bias: d 6…32, draws 20…10000
squaring: n_nodes 2…256, n_layers 1…100, samples 1…10000
star-free: depth 0…20, max_length 2…4096, samples 1…10000
state-size: samples 2…100000
stock: k 1…1000, d 1…500, n 1…1000, samples 1…100000
text-positions: times 1…1000
trained-formulas: samples 100…1000000
turing: steps 1…10000, samples 1…10000
two-channels: n_nodes 3…5
"""


def table() -> dict[str, dict[str, tuple[str, str]]]:
    """The first and the last value of each option that has limits, by claim."""
    found = defaultdict[str, dict[str, tuple[str, str]]](dict)
    for line in LIMITS.strip().splitlines():
        claim, options = line.split(": ")
        for each in options.split(", "):
            name, values = each.split()
            first, last = values.split("…")
            found[claim][name] = first, last
    return found


def notes(claim: Claim, option: str) -> tuple[Any, ...]:
    return get_args(claim.options[option].annotation)[1:]


@pytest.mark.parametrize("name", table())
def test_limits_of_options(name):
    claim = loaded(installed()[name])
    for option, (first, last) in table()[name].items():
        needed = {
            other: next(iter(allowed))
            for note in notes(claim, option)
            for other, allowed in (getattr(note, "only", None) or {}).items()
        }
        for end, step in ((first, -1), (last, 1)):
            if end:
                value = int(end) if end.isdigit() else float(end)
                claim.check_options({option: value, **needed})
                beyond = value + step if end.isdigit() else value * (1 + 1e-9 * step)
                with rejects(option):
                    claim.check_options({option: beyond, **needed})


def test_every_option_with_limits_is_in_the_table():
    found = {}
    for name, point in installed().items():
        claim = loaded(point)
        limited = {
            option
            for option in claim.options
            for note in notes(claim, option)
            if getattr(note, "least", None) is not None or getattr(note, "most", None) is not None
        }
        if limited:
            found[name] = limited
    assert found == {name: {*options} for name, options in table().items()}


def test_a_value_beyond_its_limit_is_refused_on_the_command_line(capsys):
    for option, value in (("d", "11"), ("d", "1"), ("bits", "201"), ("bits", "19")):
        rejected(capsys, ["direct-gradients", f"--{option}", value], option, value)
