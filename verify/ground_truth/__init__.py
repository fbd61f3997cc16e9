"""A benchmark of methods of interpretability: do they find circuits that are known?

`benchmark` scores methods of attribution on the circuits of `CASES`, in TransformerLens, whose
package is needed (pip install 'weightwright[lens]'). Files:

    cases        the models, and how their circuits are known
    decoys       models with heads that are active and change no answer
    truth        all interventions on a model, which define what matters
    hooked       a model in TransformerLens, and runs in which single edges are changed
    methods      the methods by their published definitions, one function each
    scores       the area under the ROC curve, and which entries a method names
    results      results of methods on models
    tables       their tables
"""

from verify.ground_truth.cases import CASES, DECOYS, Case
from verify.ground_truth.hooked import Hooked, Link
from verify.ground_truth.methods import METHODS
from verify.ground_truth.results import Result, benchmark
from verify.ground_truth.tables import decoy_summary, summary

__all__ = [
    "CASES",
    "DECOYS",
    "METHODS",
    "Case",
    "Hooked",
    "Link",
    "Result",
    "benchmark",
    "decoy_summary",
    "summary",
]
