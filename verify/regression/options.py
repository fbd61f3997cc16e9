"""Options that several claims on regression have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, get_args

from verify.claim import option
from verify.evidence.identity import DomainName

SAMPLED = ("all", "float")  # the domains in which prompts are drawn

Prompts = Annotated[
    int,
    option("generated prompts for the float comparison", min=1, only={"domain": SAMPLED}),
]


def in_each_domain(
    domains: Iterable[str] = get_args(DomainName), **options: Any
) -> list[dict[str, Any]]:
    """These options in every domain, few prompts where prompts are drawn: for the self-test."""
    return [
        {**options, "domain": domain, **({"samples": 4} if domain in SAMPLED else {})}
        for domain in domains
    ]
