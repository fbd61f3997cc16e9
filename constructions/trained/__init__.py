"""Trained counterparts of the constructions, and the loop that trains them.

A `configuration` consists of a task (`tasks/`), a shape (`models`) and the hyperparameters of
training; `presets` names the usual ones.  `training` updates the `state` of a run, or of a `group`
of runs of several seeds, and writes a `checkpoint`.

`load(name)` returns a trained model and `configuration_of(name)` its task and shape;
`python -m constructions.trained list` prints the names.  `RedirectedAttention` and
`PatchedAttention` replace the attention pattern of heads.
"""

from constructions.trained.checkpoint import configuration_of, load, log_of, shipped, sidecar
from constructions.trained.configuration import Configuration, untrained
from constructions.trained.patching import PatchedAttention, RedirectedAttention
from constructions.trained.presets import preset
from constructions.trained.training import Diverged, train, train_together

__all__ = [
    "Configuration",
    "Diverged",
    "PatchedAttention",
    "RedirectedAttention",
    "configuration_of",
    "load",
    "log_of",
    "preset",
    "shipped",
    "sidecar",
    "train",
    "train_together",
    "untrained",
]
