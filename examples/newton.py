"""A hand-built transformer computes k steps of the Newton–Schulz iteration (Iterative Newton).

Prints a description of the weights, and for each k the distances of the predictions to those of the
algorithm and of ordinary least squares.
"""

import argparse

from constructions import newton
from theory.regression import gaussian_prompts, newton_inverses, ols
from theory.terminal import script

script(argparse.ArgumentParser(description=__doc__))

D, N = 5, 20

prompts = gaussian_prompts(n_prompts=64, n=N, d=D, seed=0)
alpha = 2.0**-12  # below 2/λmax(XᵀX)² for these prompts, and exact in every number system

print(newton(D, 3, alpha), "\n")
print(" k  layers  |transformer − recursion|  |transformer − OLS|")
x, y, queries = prompts.x, prompts.y, prompts.x_query
least_squares = (ols(x, y) * queries).sum(-1)
inverses = newton_inverses(x.swapaxes(-1, -2) @ x, alpha)
for k, M in zip(range(16), inverses, strict=False):
    model = newton(D, k, alpha)
    predictions = model(x, y, queries).numpy()
    moments = (y[..., None] * x).sum(-2)
    recursion = ((M @ moments[..., None])[..., 0] * queries).sum(-1)
    to_recursion = abs(predictions - recursion).max()
    to_ols = abs(predictions - least_squares).max()
    print(f"{k:2}  {model.n_layers:6}  {to_recursion:25.1e}  {to_ols:19.1e}")
