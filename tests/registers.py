"""Layer invariants of a model on given inputs."""

import numpy as np


def registers_are_right(model, *inputs):
    """Requires each layer invariant of the model on these inputs, up to rounding."""
    streams, prefix = list(model.streams(*inputs)), len(getattr(model.interface, "prefix", ()))
    assert model.stages
    for stage in model.stages:
        found = streams[stage.after][..., prefix:, model.stream[stage.register]].numpy()
        wanted = np.asarray(stage.holds(*inputs)).astype(float)
        assert np.allclose(found, wanted, rtol=1e-12, atol=1e-9), stage
        most = (model.at_most or {}).get(stage.register)
        assert most is None or abs(found).max() <= most + 1e-9, stage
