"""One's own theorem: a model compared with a function, by `certify(model, against=function)`.

from verify import certify

found = certify(model, against=lambda tokens: len({*tokens}) % 3, max_length=6)
print(found)
print(found.write("distinct.json"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

from constructions.consistency import check_finite
from constructions.examples import Examples
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import Count, FilePath, InputError, Steps, checked
from verify.evidence.all_sequences import on_all_sequences
from verify.evidence.certificates import Statement, fingerprint, write_certificate
from verify.evidence.function_of_examples import case_of, no_formula, on_examples
from verify.evidence.function_of_tokens import Answers, lengths_up_to
from verify.evidence.size import stated_sizes
from verify.evidence.tables import by_coefficients, by_table
from verify.finding import Finding, Verdict
from verify.output.files import file_target


@dataclass(frozen=True)
class Certified:
    """The findings about a model that was compared with a function, as `certify` returns them.

    `print` shows the findings, each with its verdict and its evidence, and, for one that fails, the
    first counterexample.

    name        the call that built the model
    findings    the findings (`verify.finding.Finding`)
    statements  returns the statements of a certificate, or raises InputError
    unchanged   returns whether the model is the one that was compared
    """

    name: str
    findings: tuple[Finding, ...]
    statements: Callable[[], list[Statement]]
    unchanged: Callable[[], bool]

    @property
    def verdict(self) -> Verdict:
        """The verdict of all findings together: *holds*, *fails* or *undecided*."""
        return Verdict.together(finding.verdict for finding in self.findings)

    @property
    def holds(self) -> bool:
        """Whether all findings hold."""
        return self.verdict is Verdict.HOLDS

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __str__(self) -> str:
        from rich.console import Console

        from verify.output.report import Report

        text = StringIO()
        console = Console(file=text, highlight=False, soft_wrap=True, color_system=None)
        report = Report(console, quiet=False, verbose=False)
        for finding in self.findings:
            report.finding(finding)
        report.flush()
        return f"{self.name}: {self.verdict}\n{text.getvalue().rstrip()}"

    @checked
    def write(self, path: FilePath) -> str:
        """Writes a certificate, and returns the text with the commands that check it.

        A model over tokens has a statement with the table of the function's answers, for
        `verify/checker.py`. A model over examples has a statement with the coefficients of the
        polynomial g of the prediction xᵀ g(S) b, for `verify/formula_checker.py`. The checkers
        compute all evidence again from the weights.

        Raises InputError if not all findings hold, if the model was changed after the findings, if
        no checker has a statement for the model, if the statement is too large for the checker, and
        if the file cannot be written.
        """
        if not self.holds:
            wrong = next(each for each in self.findings if each.verdict is not Verdict.HOLDS)
            stated = "fails" if wrong.verdict is Verdict.FAILS else "is undecided"
            raise InputError(
                f"{self.name} has no certificate, because its finding '{wrong.id}' "
                f"{stated}: print the findings, and correct the model or the function"
            )
        if not self.unchanged():
            raise InputError(
                f"{self.name} has no certificate, because the model was changed after the "
                "findings: call certify again"
            )
        file_target(path)
        return "\n".join(write_certificate(path, self.name, self.statements()))


@checked
def certify(
    model: Transformer,
    *,
    against: Callable[..., Any],
    max_length: Count | None = None,
    n: Count | None = None,
    layers: Steps | None = None,
    heads: Steps | None = None,
    width: Count | None = None,
    seed: Steps = 0,
) -> Certified:
    """The findings on whether a model computes a function, for all inputs or all sequences.

    For a model over tokens, `against` maps a list of tokens to the list of the model's answers, or
    to its last answer, an integer; −1 is ⊥. The model is compared with it on all sequences of at
    most `max_length` tokens (by default, of all lengths that the model takes): in float64, in
    rational arithmetic, by margins and score gaps, and with softmax at the inverse temperature that
    these imply.

    For a model over examples, `against(of, X, y, Q)` returns the matrix (m × 1) of predictions for
    the matrices X (n × d) of examples, y (n × 1) of labels and Q (m × d) of queries, computed with
    +, −, *, `.transpose()` and `of.number(numerator, denominator)` in the number system `of`. For a
    causal model, which predicts x_{t+1} from the first t examples for t = 0, …, n, Q is one query
    x_{n+1} (1 × d), and the matrix ((n + 1) × 1) contains these predictions in order. If
    the prediction has a formula xᵀ g(S) b, its g is compared with that of the function: for all
    numbers of examples and all inputs, if the function is xᵀ g(S) b with one polynomial g for all d
    and n. A function could differ at other sizes only; this hypothesis is checked at d = n = 1 and
    at d = 2, n = 3. For linear heads, the predictions are compared for all inputs of size `n` (4 by
    default) modulo random primes, and over Q on some instances.

    The layer invariants of a model are checked too. `layers`, `heads` (in a layer) and `width`, if
    given, are compared with the sizes of the model. All random inputs follow from `seed`.

    One line on standard error announces a run of more than a minute.

    Raises InputError for another kind of model, for weights that are not finite, for arguments
    without effect, for more than 2¹⁸ sequences, for more examples than fit the memory, and if the
    function raises an error or returns something else.
    """
    check_finite(model)
    of = model.interface
    sizes = {"layers": layers, "heads": heads, "width": width}
    stated = [stated_sizes(model, **sizes)] if {*sizes.values()} != {None} else []
    before = fingerprint(model)

    def unchanged() -> bool:
        return fingerprint(model) == before

    if isinstance(of, Tokens):
        if n is not None:
            raise InputError(f"n is {n}, and {model.name} is over tokens: give max_length instead")
        lengths, answers = lengths_up_to(of, max_length), Answers(model, against)
        found = on_all_sequences(model, answers, lengths)
        return Certified(
            model.name, (*found, *stated), lambda: [*by_table(model, answers, lengths)], unchanged
        )
    if not isinstance(of, Examples):
        raise InputError(
            f"model is {model.name}, whose inputs are neither tokens nor examples: give a model "
            "with the interface Tokens or Examples"
        )
    if max_length is not None:
        raise InputError(
            f"max_length is {max_length}, and {model.name} is over examples: give n instead"
        )
    case = case_of(model, against, n)

    def formula() -> list[Statement]:
        if reason := no_formula(model):
            raise InputError(f"there is no certificate, which needs a formula for all n: {reason}")
        return [by_coefficients(model, model.formula().parts["x b"])]

    return Certified(model.name, (*on_examples(case, seed), *stated), formula, unchanged)
