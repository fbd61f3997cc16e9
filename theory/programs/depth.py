"""A bound on the number of layers of a compiled program."""

from __future__ import annotations

from theory.programs.domains import Domains
from theory.programs.language import Aggregate, Expression, Length, SelectorWidth, expressions

HEADS = Aggregate, SelectorWidth, Length


def most_layers(program: Expression, domains: Domains) -> int:
    """The bound 2a + s + 1 on the layers of a compiled program, the largest over all paths.

    A path has a aggregates, widths and lengths, and s elementwise maps that are leaves of others in
    `domains`, as they have too many combinations of values.
    """
    leaves = {leaf for of in domains.leaves.values() for leaf in of}
    found: dict[Expression, int] = {}
    for each in expressions(program):
        below = max((found[part] for part in each.parts), default=0)
        split = each in leaves and bool(each.parts)
        found[each] = below + (2 if isinstance(each, HEADS) else int(split))
    return 1 + found[program]
