"""The plan of a sweep: all combinations of values of a claim's options, with several seeds."""

from __future__ import annotations

import inspect
import math
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from typing import Any

from theory.kinds import Count, InputError, read
from verify.claim import Claim
from verify.ledger.claims import installed
from verify.sweep.values import count, parts_of, values_of
from verify.sweep.workers import Task, plain_json

MOST_RUNS = 100_000


@dataclass(frozen=True)
class Plan:
    """The plan of a sweep: a claim, values of its options, and seeds 0, 1, ….

    All combinations of values and seeds are run.
    """

    claim: str
    values: dict[str, list[Any]]
    seeds: int
    versions: dict[str, str]

    @property
    def tasks(self) -> list[Task]:
        """The runs of the plan, in order."""
        sets = [dict(zip(self.values, c, strict=True)) for c in product(*self.values.values())]
        pairs = product(sets, range(self.seeds))
        return [Task(i, self.claim, options, seed) for i, (options, seed) in enumerate(pairs)]

    @property
    def document(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return plain_json(asdict(self))


def planned(name: str, claim: Claim, texts: dict[str, str], seeds: int) -> Plan:
    """Returns the plan for options such as `--k 1..12 --d 2,5,10` of a claim.

    `texts` contains the values of the options as on the command line of `verify sweep`. Raises
    InputError for an empty range, for more runs than `MOST_RUNS`, for a value or combination that
    the claim rejects, and for a missing option.
    """
    seeds = read(Count, "seeds", seeds)
    parts = {option: parts_of(claim.options[option], text) for option, text in texts.items()}
    counts = {option: sum(map(count, each)) for option, each in parts.items()} | {"seeds": seeds}
    runs = math.prod(counts.values())
    if runs > MOST_RUNS:
        each = ", ".join(f"{option} {count}" for option, count in counts.items())
        raise InputError(f"the sweep has {runs} runs ({each}): give at most {MOST_RUNS} runs")
    for option, parameter in claim.options.items():
        if parameter.default is inspect.Parameter.empty and option not in texts:
            raise InputError(
                f"{name} requires --{option.replace('_', '-')}: give a value of this option"
            )
    values = {option: values_of(claim.options[option], each) for option, each in parts.items()}
    package = getattr(installed()[name], "dist", None)
    packages = sorted({"weightwright", package.name if package else "weightwright"})
    plan = Plan(name, values, seeds, {each: version(each) for each in packages})
    for task in plan.tasks[::seeds]:
        claim.check_options({**claim.defaults, **task.options})
    return plan
