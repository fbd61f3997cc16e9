"""Why a calibrated model hallucinates: a world of a million facts, and hand-built transformers.

Prints how often three models of a world output falsehoods, beside a deterministic lower bound and
the bound of [KalaiVempala2024]; the same for samples from transformers whose weights are written by
hand; and a model that errs under sampling and never under argmax. Saves a picture of the first:
`python examples/hallucination.py [PICTURE]`.
"""

from fractions import Fraction

import numpy as np

from constructions.language import fact_model, sample
from theory.language import fact_strings, printed_bound, probabilities_of_seen, prompted, world
from theory.language.worlds import MODELS
from verify.evidence.picture import save
from verify.language.hallucination_picture import draw
from verify.output.files import picture_argument, saving

FACTS, OTHERS, DOCUMENTS = 10**6, 10**11, 10**5
BASE, SEEN, SAMPLES = 4, 16, 2000

picture = picture_argument(__doc__, "hallucination.png")

drawn = world(FACTS, OTHERS, DOCUMENTS, "zipf", seed=0)
print(f"{FACTS:,} facts by Zipf's law among {OTHERS:,} other strings, {DOCUMENTS:,} documents,")
print(
    f"{drawn.seen_once:.2%} of them with a fact that occurs once; p(unseen) {drawn.unseen_mass:.4f}"
)
print(f"{'':14}{'falsehoods':>14}{'lower bound':>12}{'[KV]':>10}{'over-confidence':>17}")
for name in MODELS:
    model, tau = drawn.model(name), 1 / drawn.unseen
    printed = printed_bound(
        drawn.seen_once, model.miscalibration, FACTS, OTHERS, DOCUMENTS, delta=0.01
    )
    sure, over = model.deterministic_bound(tau), model.over_confidence(tau)
    print(f"{name:14}{model.hallucination:14.5f}{sure:12.5f}{printed:10.5f}{over:17.5f}")
print(
    "A bound that is not positive is vacuous. A model that memorises its corpus has a larger δ⁺.\n"
)

facts = fact_strings(BASE, 2, seed=0)
rng = np.random.default_rng(0)
counts = np.bincount(rng.integers(len(facts), size=SEEN), minlength=len(facts))
p = [Fraction(1, len(facts))] * len(facts)
print(f"Transformers with {len(facts)} facts among {BASE**4} strings, {SEEN} documents, sampled:")
known = {tuple(fact) for fact in facts.tolist()}
for name in MODELS:
    model = fact_model(BASE, facts, p, counts, name)
    samples = sample(model, np.full((SAMPLES, 1), BASE), 4, seed=1).tolist()
    wrong = np.mean([tuple(string) not in known for string in samples])
    seen, rest = int((counts > 0).sum()), 1 - sum(probabilities_of_seen(p, counts.tolist(), name))
    exact = rest * (BASE**4 - len(facts)) / (BASE**4 - seen)
    print(
        f"{name:14}{wrong:8.1%} of {SAMPLES} are falsehoods, {float(exact):.1%} of its distribution"
    )

print('\nPrompts with 365 answers, or "don\'t know": the same model, sampled and by argmax')
for alpha in (0.5, 1.0):
    asked = prompted(10**6, 365, 10**6, alpha, seed=0)
    sampled, most = asked.errors()
    print(f"α = {alpha}: answered once {asked.once:.4f}; error rates {sampled:.4f} and {most:.4f}")

with saving(picture) as file:
    save(file, draw, drawn)
print(f"\nSaved {picture}.")
