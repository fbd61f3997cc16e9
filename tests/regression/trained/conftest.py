"""Claims run on planted models."""

import pytest

from verify.claim import Run


@pytest.fixture
def at_once(monkeypatch):
    """A model gets all prompts in one call: planted models are cheap, checked calls are not."""
    monkeypatch.setattr("verify.interpret.models.CHUNK", 5000)


@pytest.fixture
def verdicts(monkeypatch, at_once):
    """The verdicts of a claim's findings on planted models, given by name, by their ids."""

    def run(claim, models, **options):
        monkeypatch.setattr(
            f"{claim.check.__module__}.models_of",
            lambda name, kind: [m.named(k) for k, m in models.items() if k.startswith(name)],
        )
        monkeypatch.setattr("verify.regression.trained.probes.FITTED", 1000)
        found = [*claim.findings(Run(seed=0), **options)]
        assert len({finding.id for finding in found}) == len(found)
        return {finding.id: finding.verdict for finding in found}

    return run
