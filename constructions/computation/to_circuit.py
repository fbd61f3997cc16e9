"""A transformer as a circuit, from its tensors: `to_circuit(model, n)`."""

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
def to_circuit(model: Transformer, n: Count, gates: Gates = "threshold") -> ThresholdCircuit:
    """The circuit that computes the answer of a hard-attention model at the last of n symbols.

    Its inputs are the bits [x_i ≥ v] of the word (`theory.computation.unary`); over two symbols
    these are the word.  It has one output for each answer of the model, including −1 (⊥).

        circuit = to_circuit(model, n)
        circuit.answers(unary(words, V)) == model(words)[..., -1]

    gates="threshold" accepts any mask and any ties; the circuit has constant depth, unbounded
    fan-in and integer weights.  gates="and-or" returns a circuit of AND, OR and NOT gates, and
    requires that no head averages different values.

    The numbers in the model are read as exact rationals.  So the circuit computes the answers of
    the model in real arithmetic, with exact ties; the answers of torch agree unless float64
    rounding changes them.

    Raises `ValueError` for a model that is not a hardmax transformer over tokens, for norms and
    other attention, for a length n that the model does not take, and for circuits that would be too
    large.
    """
    exact = exact_model(model, n)
    return averaging_circuit(exact) if gates == "threshold" else hard_attention_circuit(exact)
