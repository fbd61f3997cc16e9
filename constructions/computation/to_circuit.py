"""A transformer as a circuit, from its tensors: `to_circuit(model, length)`."""

from __future__ import annotations

from typing import Literal

from constructions.computation.averaging_circuit import averaging_circuit
from constructions.computation.exact_weights import exact_model
from constructions.computation.hard_attention_circuit import hard_attention_circuit
from constructions.transformer import Transformer
from theory.computation.threshold_circuits import ThresholdCircuit
from theory.kinds import Count, checked

Gates = Literal["and-or", "threshold"]


@checked
def to_circuit(model: Transformer, length: Count, gates: Gates = "threshold") -> ThresholdCircuit:
    """The circuit that outputs what a hard-attention model outputs at the last of `length` tokens.

    Its inputs are the bits [x_i ≥ v] of the word (`theory.computation.unary`: for two letters the
    word itself), and it has an output for each answer of the model, −1 (⊥) included.

        circuit = to_circuit(model, n)
        circuit.answers(unary(words, V)) == model(words)[..., -1]

    "threshold" takes any masks and ties: constant depth, gates of unbounded fan-in with whole
    weights.  "and-or" takes heads that never average different values: AND, OR and NOT.

    The model's numbers are read as exact rationals and never rounded, so it is the model of real
    arithmetic, with ties that are exact; torch's answers are the same as long as float64 rounds
    none of them, or not enough to matter.

    Raises `ValueError` for what is no hardmax transformer over tokens, for norms and other
    attention, for a length that the model does not take, and for circuits that would be too large.
    """
    exact = exact_model(model, length)
    return averaging_circuit(exact) if gates == "threshold" else hard_attention_circuit(exact)
