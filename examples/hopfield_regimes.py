"""One softmax head as an associative memory: retrieval depends on the inverse temperature β.

Two clusters of three patterns each, stored in a transformer whose weights were written by hand.
From a noisy version of one pattern it returns the mean of all patterns at small β, the mean
of the cluster in between (a metastable state), and the pattern itself at large β.
"""

import argparse

import numpy as np

from constructions import modern_hopfield_update
from theory.memory import cluster_radius, modern_hopfield_energy, pattern_weights, separation
from theory.terminal import script

script(argparse.ArgumentParser(description=__doc__))

rng = np.random.default_rng(0)
centres = np.array([[3.0, 0.0, 0.0, 0.0], [-3.0, 0.0, 0.0, 0.0]])
patterns = np.repeat(centres, 3, axis=0) + 0.2 * rng.standard_normal((6, 4))
query = patterns[0] + 0.05 * rng.standard_normal(4)
targets = {
    "mean of all": np.arange(6),
    "mean of the cluster": np.arange(3),
    "the pattern": np.arange(1),
}

print(modern_hopfield_update(patterns, beta=1.0), "\n")
print(f"separation of the pattern: {separation(patterns)[0]:.2f}\n")
print(f"{'β':>6} {'energy':>8}  {'weights of the six patterns':36}{'near':21}distance")
for beta in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0):
    end = modern_hopfield_update(patterns, beta, steps=200)(query).numpy()
    distances = {name: np.linalg.norm(end - patterns[c].mean(0)) for name, c in targets.items()}
    nearest = min(distances, key=distances.get)
    bound = cluster_radius(patterns, targets[nearest], beta)
    weights = " ".join(f"{weight:.3f}" for weight in pattern_weights(patterns, end, beta))
    energy = modern_hopfield_energy(patterns, end, beta)
    proved = f"at most {bound:.1e}" if bound < 1 else "no bound below 1"
    print(f"{beta:6g} {energy:8.3f}  {weights:36}{nearest:21}{distances[nearest]:.1e}, {proved}")
print(
    "\nThe bound is on the distance of a fixed point from that mean. A state near one of the\n"
    "three means is in a regime of the theory."
)
