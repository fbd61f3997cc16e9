"""Trained counterparts of the constructions, and the loop that trains them.

    configuration   what a model is and how it is trained: one record
    presets         configurations by name
    models          transformers of the project's own kind, and LSTMs, with random weights
    regression      prompts of in-context regression, and how models for it are called
    sequences       prompts of k-hop induction and in-context bigrams
    objective       the loss
    training        the loop: seeds, states that survive being killed
    process         the processes among which torchrun divides a batch
    checkpoint      weights and what is known about them, on disk
    evaluation      what a checkpoint achieves

`load(name)` gives a model that was trained, `python -m constructions.trained list` the names.
"""

from constructions.trained.checkpoint import load, log_of, shipped, sidecar
from constructions.trained.configuration import Configuration
from constructions.trained.presets import preset
from constructions.trained.training import Diverged, train

__all__ = [
    "Configuration",
    "Diverged",
    "load",
    "log_of",
    "preset",
    "shipped",
    "sidecar",
    "train",
]
