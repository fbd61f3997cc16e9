"""Sensitivity of models to single tokens: exact, estimated, and of untrained networks.

Prints the influence of every position on the outputs of retrieval models, an estimate of it from
random sequences, which works for any model, and the sensitivity of networks with random weights;
saves a picture of all three: `python examples/sensitivity_of_models.py [PICTURE]`.
"""

import numpy as np
from matplotlib.figure import Figure
from torch import nn

from constructions import broad_average, hop, previous_token
from constructions.sensitivity import predictions
from theory.sensitivity import forced, forced_profile, mean_influence, sensitivity, tabulated
from theory.sequences import all_sequences, random_sequences
from verify.output.files import picture_argument, saving
from verify.sensitivity.random_networks import ARCHITECTURES, outputs

target = picture_argument(__doc__, "sensitivity_of_models.png")

V, N, DRAWS, LETTERS = 4, 6, 10, 8

models = {
    "induction head": hop(1, V, N),
    "two hops": hop(2, V, N),
    "previous token": previous_token(V, N),
    "most frequent": broad_average(V, N),
}
everything, some = all_sequences(N, V), random_sequences(2000, N, V, seed=0)

print(f"Probability that the last output changes with one token, {V} symbols, {N} tokens")
print(f"{'':16}{'position 0 …':>14}{'Sens':>49}{'of 2000 sequences':>22}")
profiles, estimates = {}, {}
for name, model in models.items():
    profiles[name] = forced_profile(model(everything)[:, -1].numpy(), V)
    estimates[name] = sensitivity(lambda rows, m=model: m(rows)[:, -1], some, forced(V))
    exact = sum(profiles[name]) / N
    shown = "".join(f"{float(each):8.3f}" for each in profiles[name])
    print(f"{name:16}{shown}{exact!s:>15}{estimates[name]!s:>22}")
print(
    "\nExact, over all sequences, for the tensors that run. The induction head depends most on\n"
    "recent tokens, although nothing was learned: this is a property of the task."
)


# Any torch module: here three bits of nine, by a linear threshold.
module = nn.Sequential(nn.Embedding(2, 1), nn.Flatten(), nn.Linear(9, 1))
module[0].weight.data[:, 0] = module[0].weight.data.new_tensor([-1.0, 1.0])
module[2].weight.data[:] = module[2].weight.data.new_tensor([1.0, 0, 0, 0, 1, 0, 0, 0, 1])
module[2].bias.data.zero_()
found = sensitivity(predictions(module), random_sequences(2000, 9, 2, seed=1), forced(2))
exact = mean_influence(tabulated(lambda words: words[..., [0, 4, 8]].sum(-1) > 1, 9))
print(f"\nA torch module, the majority of three of nine bits: {found}, exactly {exact}")


def balanced(law: str, kind: str, layers: int) -> np.ndarray:
    """Sens of networks with random weights, at the median of their outputs, if they vary."""
    said = [outputs(kind, layers, law, LETTERS, seed) for seed in range(DRAWS)]
    varied = [each for each in said if len(np.unique(each)) > each.size // 2]
    return np.array([float(mean_influence(each > np.median(each))) for each in varied])


print(f"\nRandom weights, at the median of the outputs: mean Sens over words of {LETTERS} bits")
print(" " * 16 + "".join(f"{f'{kind} {layers}':>16}" for kind, layers in ARCHITECTURES))
random = {
    law: {f"{kind} {layers}": balanced(law, kind, layers) for kind, layers in ARCHITECTURES}
    for law in ("uniform", "Xavier")
}
for law, rows in random.items():
    cells = (f"{each.mean():.3f} ({len(each)})" if len(each) else "none" for each in rows.values())
    print(f"{law:16}" + "".join(f"{cell:>16}" for cell in cells))
print(
    f"In parentheses: how many of {DRAWS} draws were not nearly constant. With large weights\n"
    "(uniform ±10) deep LSTMs are the most sensitive; with Xavier weights shallow LSTMs are the\n"
    "least."
)

figure = Figure(figsize=(14, 4.2), layout="constrained")
left, middle, right = figure.subplots(1, 3)
places = np.arange(N)
for name, profile in profiles.items():
    left.plot(places, [float(each) for each in profile], "o-", label=name)
    estimate = estimates[name]
    middle.errorbar(
        places, estimate.by_place, estimate.radius, fmt="o-", capsize=3, label=f"{name}: {estimate}"
    )
left.set(title="exact, all sequences", ylabel="probability that the output changes")
middle.set_title("estimated from 2000 sequences, 95 %")
for panel in (left, middle):
    panel.set(xlabel="position of the token; the output is at the last one", ylim=(-0.05, 1.3))
    panel.legend(frameon=False, fontsize=8, loc="upper left")
for shift, (law, rows) in zip((-0.2, 0.2), random.items(), strict=True):
    at = np.arange(len(rows)) + shift
    heights = [each.mean() if len(each) else 0.0 for each in rows.values()]
    errors = [
        each.std(ddof=1) / len(each) ** 0.5 if len(each) > 1 else 0.0 for each in rows.values()
    ]
    right.bar(at, heights, 0.4, yerr=errors, capsize=3, label=law)
    for place, each in zip(at, rows.values(), strict=True):
        if not len(each):
            right.text(place, 0.005, "none", ha="center", fontsize=8, rotation=90)
right.set_xticks(range(len(ARCHITECTURES)), [f"{k} {n}" for k, n in ARCHITECTURES], rotation=25)
right.set(title="random weights, at the median", ylabel="mean Sens")
right.legend(frameon=False)
with saving(target) as file:
    figure.savefig(file, dpi=120)
print(f"\nThe picture is in {target}")
