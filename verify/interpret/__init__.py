"""What a model computes: its layers compared with algorithms, its heads with stated patterns.

For in-context regression, with prompts of `theory.regression`:

    algorithms(prompts)         predictions of known algorithms, after all steps
    probe(model, fitted)        linear probes of each layer; `.on(prompts)` their predictions
    outputs(model, prompts)     the predictions of a model, or of a function, without its layers
    compare(probed, …)          the similarity of layers to an algorithm, by number of steps
    nearer(first, second)       which of two iterates a layer is nearer to
    residual_filters(probed)    the exponent p of the filter (1 − z^p)^m of the errors of each layer
    induced_weights(probes, …)  the weights that layers induce

For models over tokens (`redirected` and `patched` for transformers of this library):

    attention(model, tokens, …) attention weights, compared with a stated pattern
    redirected, patched         the model with the attention of one layer replaced
    registers(model, …)         linear probes for stated contents, beside a control task

A model is one of this library or any `torch.nn.Module`; see `verify.interpret.models`.  Results are
immutable records, which print as a table and have `to_json()`.
"""

from verify.interpret.algorithms import Algorithms, algorithms
from verify.interpret.attention import HeadWeights, attention
from verify.interpret.comparison import Comparison, Nearer, compare, nearer
from verify.interpret.filters import ResidualFilters, residual_filters
from verify.interpret.induced import InducedWeights, induced_weights
from verify.interpret.interventions import patched, redirected
from verify.interpret.models import predictions_of
from verify.interpret.probes import ProbedLayers, Probes, outputs, probe
from verify.interpret.registers import RegisterProbes, contents_of, registers

__all__ = [
    "Algorithms",
    "Comparison",
    "HeadWeights",
    "InducedWeights",
    "Nearer",
    "ProbedLayers",
    "Probes",
    "RegisterProbes",
    "ResidualFilters",
    "algorithms",
    "attention",
    "compare",
    "contents_of",
    "induced_weights",
    "nearer",
    "outputs",
    "patched",
    "predictions_of",
    "probe",
    "redirected",
    "registers",
    "residual_filters",
]
