"""Every public construction is translated within its bound, or refused in one line."""

import pytest
import torch
from refusals import rejects
from small_models import MODELS, PUBLIC

from constructions.stock import to_encoder

REFUSED = {
    "disentangled": "ReLU attention",
    "two_cycles": "ReLU attention",
    "nearest_neighbour": "proved gaps",
    "sphere_dynamics": "unit norms",
    "count_min": "sink",
    "chomsky_scratchpad": "smallest error bound",
    "prefix_sums": "bound on their error",
    **dict.fromkeys(("binary_search", "interpolation_search", "sort"), "ReLU attention"),
    **dict.fromkeys(("kd_layout", "kd_descent", "bucket_table"), "ReLU attention"),
}
LARGE = {"fact_lookup"}  # an encoder of width 3072


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*MODELS} - LARGE))
def test_a_construction_is_translated_or_refused(name):
    arguments, inputs = MODELS[name]
    model = PUBLIC[name](*arguments)
    if name in REFUSED:
        with rejects(REFUSED[name]):
            to_encoder(model, *inputs)
        return
    stock = to_encoder(model, *inputs)
    bound = float(torch.as_tensor(stock.bound(*inputs)).max())
    if getattr(model.interface, "threshold", None) is not None:  # the bound is that of the answers
        assert float((stock(*inputs) - model(*inputs)).abs().max()) <= bound
    else:
        assert float((stock.logits(*inputs) - model.logits(*inputs)).abs().max()) <= bound
