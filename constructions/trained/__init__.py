"""Trained counterparts of the constructions, and the loop that trains them.

A task (`tasks/`), a shape (`models`) and how it is trained make a `configuration`, which `presets`
name; `training` goes from `state` to state and leaves a `checkpoint`.

`LooksAt` makes heads look elsewhere, `Attends` gives them a pattern.

`load(name)` gives a model that was trained, `configuration_of(name)` its task and shape, and
`python -m constructions.trained list` the names.
"""

from constructions.trained.checkpoint import configuration_of, load, log_of, shipped, sidecar
from constructions.trained.configuration import Configuration, untrained
from constructions.trained.patching import Attends, LooksAt
from constructions.trained.presets import preset
from constructions.trained.training import Diverged, train

__all__ = [
    "Attends",
    "Configuration",
    "Diverged",
    "LooksAt",
    "configuration_of",
    "load",
    "log_of",
    "preset",
    "shipped",
    "sidecar",
    "train",
    "untrained",
]
