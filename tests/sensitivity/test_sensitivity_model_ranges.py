"""Models of `constructions.sensitivity` at many sizes, compared with definitions."""

from functools import partial

import numpy as np
import pytest
import torch
from refusals import rejects
from registers import registers_are_right
from sensitivity_by_definition import slow
from torch import nn

from constructions import conjunction, junta, subset_parity
from constructions.sensitivity import predictions
from theory import sensitivity as s


@pytest.mark.parametrize(
    ("d", "k"), [(1, 1), (3, 2), (13, 12), (13, 13), (17, 16), (33, 32), (130, 65), (300, 300)]
)
def test_parities_and_conjunctions(d, k):
    rng = np.random.default_rng(d)
    positions = rng.permutation(d)[:k]
    words = rng.integers(0, 2, (40, d))
    for row, zeros in enumerate((0, 0, 1, 1, 2, 3)):  # among the positions
        words[row, positions] = 1
        words[row, positions[: min(zeros, k)]] = 0
    chosen = [[row[p] for p in positions] for row in words.tolist()]
    parity = [sum(bits) % 2 for bits in chosen]
    every = [int(all(bits)) for bits in chosen]
    assert s.subset_parity(words, positions).tolist() == parity
    assert s.conjunction(words, positions).tolist() == every
    assert s.distinct_positions(d, positions) == tuple(positions.tolist())
    models = [(subset_parity(d, positions), parity), (conjunction(d, positions), every)]
    for model, wanted in models if k < 66 else ():
        assert model(words[:12])[:, 0].tolist() == wanted[:12]
    for function in (partial(s.subset_parity, words), partial(s.conjunction, words)):
        for wrong in ([d], [-1], [*positions, positions[-1]]):
            with rejects("positions"):
                function(wrong)


@pytest.mark.parametrize("k", [1, 2, 3, 12, 13, 33, 65, slow(130)])
def test_models_of_parities_and_conjunctions_at_every_count(k):
    """Words with all numbers of ones at the positions, or some; also in float32 and by softmax."""
    d = k + 3
    counts = np.unique([*range(0, k, k // 7 + 1), max(k - 2, 0), k - 1, k])
    words = np.ones((len(counts), d), dtype=int)
    words[:, :k] = np.arange(k) < counts[:, None]
    positions = np.arange(k)[::-1]
    for build, wanted in ((subset_parity, counts % 2), (conjunction, counts == k)):
        model = build(d, positions)
        registers_are_right(model, words)
        width, units = (4, k - 1) if build is subset_parity else (5, 1)
        mlp = model.blocks[0].mlp
        assert (model.n_layers, model.n_heads, model.d_model) == (1, k, width)
        assert (0 if mlp is None else len(mlp.b_in)) == units
        soft = model.sharpened(model.least_sharpness() * 1.01) if k < 33 else model
        for each in (model, soft, build(d, positions).float()):
            assert (each(words)[:, 0].numpy() == wanted).all()
        with rejects("positions"):
            build(k, [k])


@pytest.mark.parametrize(("d", "k"), [(1, 1), (9, 3), (33, 7), (13, 13), (130, 10), (300, 16)])
def test_juntas_and_tables(d, k):
    rng = np.random.default_rng(k)
    positions, table = rng.permutation(d)[:k], rng.integers(0, 2, 2**k)
    words = rng.integers(0, 2, (200, d))
    words[:2, positions] = [[0], [1]]
    digits = ["".join(str(row[p]) for p in positions) for row in words.tolist()]
    wanted = [int(table[int(each, 2)]) for each in digits]
    assert s.junta(words, positions, table).tolist() == wanted
    assert (s.junta_table(k, table) == table).all()
    if k < 11:
        model = junta(d, positions, table)
        assert model(words[:40])[:, 0].tolist() == wanted[:40]
        registers_are_right(model, words[:20])
        assert (model.n_layers, model.n_heads, model.d_model) == (1, k, k + 4)
        assert len(model.blocks[0].mlp.b_in) == 2**k
    for wrong in (table[:-1], [*table, 0]):
        for call in (partial(s.junta_table, k), partial(s.junta, words, positions)):
            with rejects("table"):
                call(wrong)


@pytest.mark.parametrize("N", [1, 2, 7, 8, 9, 1023, 1024, 1025, 2049])
@pytest.mark.parametrize("batch", [1, 8, None])
def test_batches(N, batch):
    sizes = []

    class Counted(nn.Module):
        def forward(self, x):
            sizes.append(len(x))
            return x[:, :1] - x[:, 1:2] if x.shape[1] == 2 else x

    options = {} if batch is None else {"batch": batch}
    rng = np.random.default_rng(N)
    for width, least, threshold in (
        (2, 0.0, None),
        (2, 0.5, 0.5),
        (2, -1.5, -1.5),
        (300, None, None),
    ):
        inputs = rng.normal(size=(min(N, 99 if batch == 1 else N), width))
        inputs[0] = [0, 1, *[0] * (width - 2)]
        sizes.clear()
        found = predictions(Counted(), threshold=threshold, **options)(inputs)
        single = inputs[:, 0].astype(np.float32) - inputs[:, 1].astype(np.float32)
        wanted = inputs.argmax(1) if least is None else (single > least)[:, None]
        assert (found == wanted).all()
        size = batch or 1024
        assert sizes == [size] * (len(inputs) // size) + [len(inputs) % size] * (
            len(inputs) % size > 0
        )


@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("given", [np.uint8, np.int32, np.float32, np.float64, bool])
def test_dtypes(dtype, given):
    met = []
    module = nn.Linear(1, 1).double()
    module.forward = lambda x: met.append(x.dtype) or x.double() - 5
    predictions(module, dtype=dtype)(np.ones((3, 1), given))
    whole = np.issubdtype(given, np.integer)
    assert met == [dtype or (torch.int64 if whole else torch.float64)]
