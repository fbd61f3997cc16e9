"""The tables of the benchmark: a row for each method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from theory.kinds import checked
from verify.ground_truth.cases import DECOYS, MARK
from verify.ground_truth.results import Result

SHOWN = ("auc", "content", "right", "unused", "absent", "unnamed", "null", "random")
NAMES = "none", "silent", "faint", "silent", "faint", "none", "silent", "faint"
WIDTHS = 6, 7, 6, 8, 7, 8, 7, 7  # of the columns of `decoy_summary`


@checked
def summary(results: Sequence[Result]) -> str:
    """A table with a row for each method; means over circuits of the means over seeds.

    The two numbers after ± are standard deviations: of the AUC over circuits, and, as a root mean
    square over circuits, over seeds. Circuits all of whose entries are true have no AUC.
    """
    lines = [
        f"{'method':30}{'AUC':>6} ±circ ±seed  cont.  right unused absent unnamed   null random"
    ]
    for method in dict.fromkeys(each.method for each in results):
        own = [each for each in results if each.method == method]
        values = {
            name: np.array(
                [
                    [getattr(each, name) for each in own if each.case == case]
                    for case in dict.fromkeys(each.case for each in own)
                ]
            )
            for name in SHOWN
        }
        known = ~np.isnan(values["auc"]).any(1)
        mean = {name: float(np.nanmean(array)) for name, array in values.items()}
        over_circuits = values["auc"][known].mean(1).std(ddof=1) if known.sum() > 1 else np.nan
        several = known.any() and values["auc"].shape[1] > 1
        over_seeds = np.sqrt(values["auc"][known].var(1, ddof=1).mean()) if several else np.nan
        columns = [mean["auc"], over_circuits, over_seeds, *(mean[name] for name in SHOWN[1:])]
        widths = 6, 6, 6, 7, 7, 7, 7, 8, 7, 7
        lines.append(f"{method:30}" + "".join(map(_column, columns, widths)))
    return "\n".join(lines)


@checked
def decoy_summary(results: Sequence[Result]) -> str:
    """A table of the results on models with decoys, beside those on the same models without them.

    For each method it has the mean AUC without decoys, with silent and with faint ones; the
    fraction of the named entries that are about decoys, for decoys of either kind; and the fraction
    that is right. Means are over the models for which there are results with decoys of both kinds
    and without.
    """
    found: dict[str, dict[str, dict[str, list[Result]]]] = {}
    for each in results:
        base, _, kind = each.case.partition(MARK)
        of_kind = found.setdefault(each.method, {}).setdefault(kind, {})
        of_kind.setdefault(base, []).append(each)
    lines = [
        f"{'':30}{'AUC':>19}{'named decoys':>15}{'right':>22}",
        f"{'method':30}" + "".join(f"{name:>{w}}" for name, w in zip(NAMES, WIDTHS, strict=True)),
    ]
    for method, kinds in found.items():
        none, silent, faint = (kinds.get(kind, {}) for kind in ("", *DECOYS))
        common = [case for case in none if case in silent and case in faint]
        columns = [_mean("auc", each, common) for each in (none, silent, faint)]
        columns += [_mean("decoys", each, common) for each in (silent, faint)]
        columns += [_mean("right", each, common) for each in (none, silent, faint)]
        lines.append(f"{method:30}" + "".join(map(_column, columns, WIDTHS)))
    return "\n".join(lines)


def _mean(field: str, found: dict[str, list[Result]], cases: Iterable[str]) -> float:
    """The mean over circuits of the mean over seeds, of those that have a number."""
    each = np.array([np.mean([getattr(one, field) for one in found[case]]) for case in cases])
    known = each[~np.isnan(each)]
    return float(known.mean()) if known.size else np.nan


def _column(value: float, width: int) -> str:
    return f"{'–' if np.isnan(value) else format(value, '.2f'):>{width}}"
