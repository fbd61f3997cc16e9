"""A package with one theorem; what it exports, the ledger's `build` may call."""

from mean_label.theory import mean_of
from mean_label.weights import mean_of_labels

__all__ = ["mean_of", "mean_of_labels"]
