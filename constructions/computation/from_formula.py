"""Formulas of two logics as transformers, by one function.

    counting logic (C-RASP)   uniform attention, whose scores are all 0; see `counting.py`
    past LTL                  unique-hard attention with a strictly causal mask, one head for each
                              `since`; see `temporal_logic.py`

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
    """Returns a model that outputs whether a formula holds, 1 or 0, at each symbol of a word.

    Words have at most max_length = T symbols; token 0 is the first symbol of the alphabet.  The
    formula is an object of `theory.computation.counting` (counting logic) or
    `theory.computation.temporal_logic` (past LTL), or a text.  A text that contains a count `#` is
    parsed as counting logic, for example `#a = #b & #(#a < #b) = 0`.  Other texts are parsed as
    past LTL, for example `a since b`.

    | logic    | layers                          | heads/layer   | softmax at `sharpness`          |
    |----------|---------------------------------|---------------|---------------------------------|
    | counting | ≤ 2d, counting depth d          | 1             | exact, at every sharpness       |
    | past LTL | ≤ d, temporal depth d, s `since`| ≤ s           | requires `form="robust"`, which |
    |          |                                 |               | takes twice the ReLUs           |

    A past-LTL model over V symbols has width ≤ V + 3s + 2, for every T.  The number of layers of a
    counting model is `Conjunctions(alphabet).level` of the formula.  For a
    conjunction or a disjunction it is the largest level of the parts.

    Raises ValueError for a text that is not a formula, a symbol that the alphabet lacks, and a
    formula that is too large.  In counting logic it raises ValueError for form="robust"; in past
    LTL, for a sharpness without form="robust", and for a sharpness that is too small.
    """
    if isinstance(formula, str):
        of_counts = "#" in formula
        formula = parse(formula) if of_counts else parse_temporal(formula, alphabet)
    if isinstance(formula, temporal_logic.Formula):
        if sharpness is not None and form == "lean":
            raise InputError(
                "sharpness is given without form='robust': the lean form is not exact with softmax"
            )
        model = temporal_model(formula, alphabet, max_length, form == "robust")
    else:
        if form == "robust":
            raise InputError(
                "form is 'robust', but the formula is of counting logic: leave form out"
            )
        model = counting_model(formula, alphabet, max_length)
    return model.sharpened(sharpness)
