"""Transformers for formulas of two logics, by one function `from_formula`.

    counting logic (C-RASP)   uniform attention, whose scores are all 0; see `counting.py`
    past LTL                  unique-hard attention with a strictly causal mask, and one head for
                              each operator `since`; see `temporal_logic.py`

The proofs are in these two files, next to the weights.
"""

from __future__ import annotations

from constructions.call import construction
from constructions.computation.counting import counting_model
from constructions.computation.semiautomaton import Form
from constructions.computation.temporal_logic import temporal_model
from constructions.transformer import Transformer
from theory.computation import counting, temporal_logic
from theory.computation.counting_syntax import parse
from theory.computation.kinds import Alphabet
from theory.computation.temporal_syntax import formula as parse_temporal
from theory.kinds import Count, InputError, Positive


@construction
def from_formula(
    formula: counting.Formula | temporal_logic.Formula | str,
    alphabet: Alphabet,
    max_length: Count,
    *,
    form: Form = "lean",
    sharpness: Positive | None = None,
) -> Transformer:
    """Returns a model that outputs 1 at the positions of a word at which a formula holds, else 0.

    Words have at most T = max_length symbols. Token 0 is the first symbol of the alphabet. The
    formula is a text, or an object of `theory.computation.counting` (counting logic) or of
    `theory.computation.temporal_logic` (past LTL, linear temporal logic with the operator `since`).
    Counting logic (C-RASP) compares sums of counts, where `#φ` is the number of positions so far at
    which φ holds. A text that contains a count `#` is parsed as counting logic, for example
    `#a = #b & #(#a < #b) = 0`; its symbols are from a to z. Other texts are parsed as past
    LTL, for example `a since b`.

    | logic    | layers                          | heads/layer   | softmax at `sharpness`          |
    |----------|---------------------------------|---------------|---------------------------------|
    | counting | ≤ 2d, counting depth d          | 1             | exact, at every sharpness       |
    | past LTL | ≤ d, temporal depth d, s `since`| ≤ s           | requires `form="robust"`, which |
    |          |                                 |               | takes twice the ReLUs           |

    In the table, s is the number of operators `since` in the formula. The counting depth is the
    largest number of nested counts, and the temporal depth is the largest number of nested
    operators `since`. With a `sharpness` β, attention is softmax at inverse temperature β. A
    past-LTL model over V symbols has width ≤ V + 3s + 2, for every T. A counting model has
    `Conjunctions(alphabet).level(formula)` layers, where `Conjunctions` is a class of
    `theory.computation.conjunctions`. If the formula is a conjunction or a disjunction, the number
    of layers is instead the maximum of `level(part)` over its parts.

    Raises ValueError for a text that is not a formula, for a symbol that the alphabet lacks, and
    for a formula that is too large. For counting logic, also raises ValueError for form="robust".
    For past LTL, also raises ValueError for a sharpness without form="robust" and for a sharpness
    at which answers could be wrong.
    """
    if isinstance(formula, str):
        of_counts = "#" in formula
        formula = parse(formula) if of_counts else parse_temporal(formula, alphabet)
    if isinstance(formula, temporal_logic.Formula):
        if sharpness is not None and form == "lean":
            raise InputError(
                "sharpness is given with form='lean', which is not exact with softmax: give "
                "form='robust'"
            )
        model = temporal_model(formula, alphabet, max_length, form == "robust")
    else:
        if form == "robust":
            raise InputError("form is 'robust' for a formula of counting logic: omit form")
        model = counting_model(formula, alphabet, max_length)
    return model.sharpened(sharpness)
