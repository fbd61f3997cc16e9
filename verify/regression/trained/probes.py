"""The probed layers of a trained model, on fresh prompts of its task."""

from __future__ import annotations

from dataclasses import dataclass, field

from verify.claim import Run
from verify.evidence.checkpoints import Trained
from verify.interpret.probes import ProbedLayers, Probes, probe
from verify.regression.trained.options import QUICK
from verify.regression.trained.prompts import prompts_of

FITTED = 4000  # prompts to which probes are fitted; measurements use other prompts


def fitted_probes(run: Run, trained: Trained) -> Probes:
    """The probes of a model, fitted to fresh prompts of its task."""
    count = FITTED // 10 if run.quick else FITTED
    return probe(trained.model, prompts_of(trained.task, count, run.rng))


@dataclass(frozen=True)
class Probed(ProbedLayers):
    """The probed layers of a trained model on fresh prompts of its task."""

    trained: Trained = field(kw_only=True)

    @staticmethod
    def of(run: Run, trained: Trained, samples: int) -> Probed:
        """A trained model with probes, on `samples` fresh prompts of its task."""
        probes = fitted_probes(run, trained)
        count = run.limited(QUICK, samples=samples)
        layers = probes.on(prompts_of(trained.task, count, run.rng), trained.task.noise)
        return Probed(**vars(layers), trained=trained)
