"""Which methods of interpretability find a circuit that is known? A benchmark on 46 circuits.

Methods of attribution, by their published definitions, are applied in TransformerLens to models
whose circuit is known, since their weights were written by hand or compiled from programs, and to
three trained models that are compared with the circuit of a hand-built one; then to the hand-built
models with decoys, heads that change no answer. The script prints two tables and saves a picture:
`python examples/ground_truth.py [PICTURE] [--quick] [--seeds N] [--json FILE]`.

It needs the extra: pip install 'weightwright[lens]'. `docs/ground-truth.md` explains the columns.
"""

import argparse
import json
import warnings
from dataclasses import asdict
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.progress import track

from theory.kinds import InputError
from theory.terminal import script
from verify.ground_truth import CASES, DECOYS, benchmark, decoy_summary, summary
from verify.output.files import file_target, picture_file, saving, write

QUICK = ("induction, latest", "parity", "S3", "program reverse", "program sort")

options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
options.add_argument("picture", type=Path, nargs="?", default=Path("ground_truth.png"))
options.add_argument("--quick", action="store_true", help=f"{len(QUICK)} circuits and one seed")
options.add_argument("--seeds", type=int, default=5, help="draws of prompts, 1 to 100; default 5")
options.add_argument("--json", type=Path, help="file to which all results are written")
given = script(options)
if not 1 <= given.seeds <= 100:
    options.error("give 1 to 100 seeds")
try:
    picture_file(given.picture)
    file_target(given.json)
except InputError as error:
    options.error(str(error))
warnings.filterwarnings("ignore", module="transformer_lens")
cases = [case for case in CASES if case.name in QUICK or not given.quick]
seeds = 1 if given.quick else given.seeds

decoys = [each.with_decoys(kind) for kind in DECOYS for each in cases if each.built is None]

results, beside = [], []
try:
    for case in track(cases, "circuits"):
        results += benchmark(cases=[case], seeds=seeds)
    for case in track(decoys, "circuits with decoys"):
        beside += benchmark(cases=[case], seeds=1)
except InputError as error:  # TransformerLens is missing
    options.error(str(error))
print(f"{len(cases)} circuits, {seeds} draws of 64 pairs of prompts\n")
print(summary(results))
print(f"\n{len(decoys) // 2} of these models with decoys, one draw\n")
print(decoy_summary([*results, *beside]))
if given.json is not None:
    write(str(given.json), json.dumps([asdict(each) for each in [*results, *beside]], indent=1))

KINDS = {
    "right": "tab:blue",
    "unused": "tab:orange",
    "absent": "tab:red",
    "unnamed": "lightgray",
}
methods = [*dict.fromkeys(each.method for each in results)][::-1]
figure = Figure(figsize=(13, 4.5), layout="constrained")
left, right, faint = figure.subplots(1, 3, sharey=True)
for y, method in enumerate(methods):
    own = [each for each in results if each.method == method]
    names = dict.fromkeys(each.case for each in own)
    for values, color, shift in (("null", "tab:gray", -0.2), ("auc", "tab:blue", 0.1)):
        means = [
            np.mean([getattr(each, values) for each in own if each.case == case]) for case in names
        ]
        left.plot(means, np.full(len(means), y + shift), "|", color=color, markersize=9)
        left.plot(np.nanmean(means), y + shift, "o", color=color)
    with_faint = [each for each in beside if each.method == method and "faint" in each.case]
    for axes, named in ((right, own), (faint, with_faint)):
        start = 0.0
        for kind, color in KINDS.items():
            size = float(np.mean([getattr(each, kind) for each in named]))
            axes.barh(y, size, left=start, color=color, label=kind if y == 0 else None)
            start += size
left.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
left.set_yticks(range(len(methods)), methods)
left.set_xlabel("area under the ROC curve, one line for each circuit\n(gray: on random models)")
right.set_xlabel("what a method names, out of\nas many entries as are true")
faint.set_xlabel("the same on hand-built models\nwith faint decoys")
figure.legend(*right.get_legend_handles_labels(), loc="outside upper right", ncols=4, frameon=False)
with saving(given.picture) as file:
    figure.savefig(file, dpi=150)
print(f"\npicture: {given.picture}")
