"""The picture of `spectral-bias`: eigenvalues by degree, even and odd degrees separately."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from theory.sensitivity import eigenvalues

KERNELS = {
    "t²": [Fraction(0), Fraction(0), Fraction(1)],
    "t + t⁴": [Fraction(int(m in (1, 4))) for m in range(5)],
    "exp(t)": [Fraction(1, factorial(m)) for m in range(16)],
    "sinh(t) + cosh(t)/50": [Fraction(1, (1 if m % 2 else 50) * factorial(m)) for m in range(16)],
}


def draw(d: int) -> Figure:
    """The figure of eigenvalues on the cube of d bits, with a panel for each kernel.

    A kernel has at most 16 terms. Eigenvalues 0 are omitted, because the axis is logarithmic.
    """
    figure = Figure(figsize=(3.4 * len(KERNELS), 3.5))
    panels = figure.subplots(1, len(KERNELS))
    for panel, (name, coefficients) in zip(panels, KERNELS.items(), strict=True):
        mu = eigenvalues(coefficients, d)
        for parity, (label, colour, marker) in enumerate(
            (("even degrees", "C0", "o"), ("odd degrees", "C1", "s"))
        ):
            degrees = [k for k in range(parity, d + 1, 2) if mu[k]]
            heights = [float(mu[k]) for k in degrees]
            panel.semilogy(degrees, heights, marker=marker, color=colour, label=label)
        panel.set_title(f"Φ(t) = {name}, d = {d}")
        panel.set(xlabel="degree k", xlim=(-0.5, d + 0.5))
        low, high = panel.get_ylim()
        panel.set_ylim(min(low, high / 30), high)  # at least two powers of ten
        panel.minorticks_off()
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.legend()
    panels[0].set_ylabel("eigenvalue μ_k, 16 terms (zeros omitted)")
    return figure
