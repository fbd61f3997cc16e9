"""Trained counterparts of the constructions, and the loop that trains them.

    tasks           what models are trained on, one a file: prompts, loss, presets
    configuration   what a model is and how it is trained: one record
    presets         configurations by name
    models          transformers of the project's own kind, and LSTMs, with random weights
    training        the loop
    state           what the next step depends on, in a file that survives being killed
    process         the processes among which torchrun divides a batch
    checkpoint      weights and what is known about them, on disk

`load(name)` gives a model that was trained, `configuration_of(name)` its task and shape, and
`python -m constructions.trained list` the names.
"""

from constructions.trained.checkpoint import configuration_of, load, log_of, shipped, sidecar
from constructions.trained.configuration import Configuration
from constructions.trained.models import untrained
from constructions.trained.presets import preset
from constructions.trained.training import Diverged, train

__all__ = [
    "Configuration",
    "Diverged",
    "configuration_of",
    "load",
    "log_of",
    "preset",
    "shipped",
    "sidecar",
    "train",
    "untrained",
]
