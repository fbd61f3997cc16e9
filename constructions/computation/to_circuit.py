"""The translation of a hard-attention transformer into a circuit: `to_circuit(model, n)`."""

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
    """A circuit that computes the last answer of a hard-attention model to words of n symbols.

    The inputs of the circuit are the bits [x_i ≥ v], v = 1 … V − 1, of a word x over V symbols;
    `theory.computation.unary(x, V)` computes these bits.  For V = 2 these bits are the word itself.
    The circuit has one output for each answer of the model, including −1 (⊥, no answer).

        circuit = to_circuit(model, n)
        circuit.answers(unary(words, V)) == model(words)[..., -1]

    For a model with an answer after each symbol, such as `parity(n, causal=True)`, this is the
    answer at the last symbol; for a model with one answer for the word, it is this answer.

    With gates="threshold" the model may have any mask except context-only, and any ties. The
    circuit then has constant depth, unbounded fan-in and integer weights. With gates="and-or" the
    result is a circuit of AND, OR and NOT gates; no head of the model may average different values.

    The numbers in the model are read as exact rationals. So the circuit computes the answers of the
    model in real arithmetic, with exact ties. The model in torch gives the same answers, unless
    float64 rounding changes an answer.

    The model must be a transformer over tokens, with hardmax attention, without layer norms, and
    without logits that are frequencies (as in `in_context_ngram`). Raises `ValueError` for any
    other model, for a head with a context-only mask, for a length n
    that the model does not accept, and for circuits that would be too large.
    """
    exact = exact_model(model, n)
    return averaging_circuit(exact) if gates == "threshold" else hard_attention_circuit(exact)
