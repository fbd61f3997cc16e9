"""Formulas of two logics as transformers: one construction, which dispatches on the logic.

    counting logic (C-RASP)   uniform attention, whose scores are all 0; see `counting.py`
    past LTL                  unique-hard attention with a strictly causal mask, one head for each
                              `since`; see `temporal_logic.py`

The proofs stand beside the weights, in these two files.
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
    """Whether a formula holds, 1 or 0, at each symbol of words of at most max_length = T symbols.

    A formula is one of `theory.computation.counting` (counting logic), one of
    `theory.computation.temporal_logic` (past LTL), or a text; a text with a count, `#`, is of
    counting logic, such as `#a = #b & #(#a < #b) = 0`, any other of past LTL, such as `a since b`.
    Token 0 is the first symbol of the alphabet.

    | logic    | layers                          | heads a layer | softmax at `sharpness`          |
    |----------|---------------------------------|---------------|---------------------------------|
    | counting | ≤ 2d, counting depth d          | 1             | exact, at every sharpness       |
    | past LTL | ≤ d, temporal depth d, s `since`| ≤ s           | of `form="robust"`, if it is    |
    |          |                                 |               | large enough; twice the ReLUs   |

    A past-LTL model over V symbols has width ≤ V + 3s + 2, whatever T is.  The layers of a counting
    model are `Conjunctions(alphabet).level` of the formula or, of a conjunction or a disjunction,
    the largest level of its parts.

    Raises ValueError for a text that is not a formula, a symbol that the alphabet lacks, a formula
    that is too large, form="robust" in counting logic, which has one form, and, in past LTL, a
    sharpness without the robust form or too small for it.
    """
    if isinstance(formula, str):
        of_counts = "#" in formula
        formula = parse(formula) if of_counts else parse_temporal(formula, alphabet)
    if isinstance(formula, temporal_logic.Formula):
        if sharpness is not None and form == "lean":
            raise InputError("sharpness is for form='robust': lean ReLUs let softmax errors pass")
        model = temporal_model(formula, alphabet, max_length, form == "robust")
    else:
        if form == "robust":
            raise InputError("form is 'robust', which is of past LTL: leave it out")
        model = counting_model(formula, alphabet, max_length)
    return model.sharpened(sharpness)
