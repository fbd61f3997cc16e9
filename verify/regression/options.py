"""Options of several claims on regression, and the constructions by start and mask."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from theory.regression import Start
from verify.claim import option
from verify.evidence.identity import DomainName

Packed = Literal["direct", "ladder", "paper"]
Causal = Literal["causal", "causal-ladder"]
Layout = Literal[Packed, Causal]
Layouts = Literal["all", Layout]
Descent = Literal["direct", "causal", "ladder"]

CAUSAL: tuple[Causal, ...] = ("causal", "causal-ladder")
LAYOUTS: dict[Start, tuple[Packed, ...]] = {
    "gram": ("direct", "ladder", "paper"),
    "identity": ("direct", "ladder"),
}
"""The constructions of Newton's method for a whole prompt, by their start."""

SAMPLED = ("all", "float")  # the domains with random prompts

Prompts = Annotated[
    int,
    option(
        "number of random prompts for the comparison in float64",
        min=1,
        max=10**5,
        only={"domain": SAMPLED},
    ),
]

Explain = Annotated[
    bool,
    option(
        "print the formulas of all registers, layer by layer (for layouts without a causal mask "
        "and d ≥ 2)",
        "--explain",
    ),
]

Equality = Annotated[
    DomainName,
    option(
        "how equality is checked: in a number system, or by formulas that are read from the "
        "tensors, for all n and inputs (for layouts without a causal mask)"
    ),
]


DOMAINS: tuple[DomainName, ...] = get_args(DomainName)
NUMBERS = tuple(name for name in DOMAINS if name != "formula")
"""The domains of predictions that have no formula."""


def in_each_domain(domains: Iterable[str] = NUMBERS, **options: Any) -> list[dict[str, Any]]:
    """The options in each of the domains, with few random prompts, for the self-test."""
    return [
        {**options, "domain": domain, **({"samples": 8} if domain in SAMPLED else {})}
        for domain in domains
    ]
