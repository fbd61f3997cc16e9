"""Decoding with the keys that can be attended: the very outputs of the whole cache."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects
from small_models import MODELS, PUBLIC

from constructions import hulls
from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, PosEmbed, Unembed
from constructions.cached_keys import FEW, Hulls, Plane, Table, on_paraboloid
from constructions.computation import scratchpad, turing_machine
from constructions.decoding import PrunedDecoder, unsuitable
from constructions.retrieval import previous_token
from constructions.stream import Stream
from constructions.tokens import Tokens, sequences
from constructions.transformer import Transformer
from theory.computation import MACHINES, benchmark_automaton, random_machine

small, quarters = st.integers(-4, 4), st.integers(-12, 12).map(lambda n: n / 4)
CAUSAL = [
    *("hop", "previous_token", "broad_average", "gridworld_walk", "dyck", "from_formula"),
    *("circuit_evaluator", "turing_machine", "scratchpad", "majority", "semiautomaton"),
    *("shortcut", "search", "linear_adder", "skip_gram", "parity_with_steps", "fact_model"),
    *("string_model", "chomsky_scratchpad", "induction_heads", "in_context_ngram"),
]


@given(st.lists(st.tuples(small, small, small), min_size=1, max_size=30), st.data())
def test_the_best_keys_of_a_hull_are_the_best_of_all(keys, data):
    hull = hulls.UpperHull()
    for last, (x, y, value) in enumerate(keys, start=1):
        hull.add(x, y, [value])
        u, v = data.draw(quarters), data.draw(st.sampled_from([1, 2, 0.25]))
        scores = [u * a + v * b for a, b, _ in keys[:last]]
        best = [c for (_, _, c), score in zip(keys, scores, strict=False) if score == max(scores)]
        assert hull.best(u, v) == (max(scores), [sum(best)], len(best))


@pytest.mark.parametrize(("moved", "most"), [(0, 8), (1, 12), (-1, 12), (1000, 100), (-1000, 100)])
def test_a_search_begins_where_the_last_one_of_its_head_ended(moved, most):
    """In coordinates that are read: about four for each doubling of the number of places."""

    class Read(list):
        count = 0

        def __getitem__(self, i):
            self.count += 1
            return super().__getitem__(i)

    hull, middle = hulls.UpperHull(2), 2**13
    for x in range(2**14):
        hull.add(x, -x * x, [x])
    for head, place in ((0, middle), (1, 5), (0, middle + moved)):
        hull.x = Read(hull.x)
        assert hull.best(2 * place, 1, head)[1] == [place]
    assert hull.x.count <= most


def best_of_all(keys, query):
    """The sum of the values of the keys of largest score, and their number."""
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key, _ in keys]
    best = [value for (_, value), score in zip(keys, scores, strict=True) if score == max(scores)]
    return [sum(column) for column in zip(*best, strict=True)], len(best)


@pytest.mark.parametrize(
    ("cache", "width", "constant"), [(Hulls, 2, 1), (Hulls, 4, 1), (Plane, 2, None), (Table, 4, 0)]
)
@given(data=st.data())
def test_caches_answer_like_all_keys(cache, width, constant, data):
    """Two heads ask in turn; in a score the coordinate number `constant` counts once."""
    kept, keys = cache(2), []
    for _ in range(data.draw(st.integers(1, 25))):
        key = data.draw(st.lists(small.map(float), min_size=width, max_size=width))
        keys.append((key, (float(len(keys)), data.draw(small.map(float)))))
        kept.add(*keys[-1])
        for head in range(2):
            query = data.draw(st.lists(quarters, min_size=width, max_size=width))
            if constant is not None:
                query[constant] = 1.0
            free = [u for i, u in enumerate(query) if i != constant]
            total, count = kept.best(free, head)
            assert ([*total], count) == best_of_all(keys, query)


@pytest.mark.parametrize("astray", [None, 0, 3, 9])
@given(data=st.data())
def test_keys_on_a_paraboloid_are_looked_up(astray, data):
    """Also if one of them, here y too small or too large by 1, is not on it, or if a < 0."""
    table, keys, a = Table(1), [], data.draw(st.sampled_from([0.5, 1.0, 3.0, -1.0]))
    near = st.integers(-1, 1).map(float)
    for i in range(10):
        z = data.draw(st.lists(near, min_size=2, max_size=2))
        y = -a * (z[0] ** 2 + z[1] ** 2) + (i == astray) * data.draw(st.sampled_from([-1, 1]))
        keys.append(([y, *z], (float(i),)))
        table.add(*keys[-1])
        point = data.draw(st.lists(near, min_size=2, max_size=2))
        query = [2 * a * p for p in point]
        total, count = table.best(query, 0)
        assert ([*total], count) == best_of_all(keys, [1.0, *query])


@pytest.mark.parametrize(
    ("y", "z", "found"),
    [
        ([0, -2, -10], [[0, 0], [1, 0], [1, -2]], True),
        ([-1, -2, -10], [[0, 0], [1, 0], [1, -2]], False),
        ([0, -2, -9], [[0, 0], [1, 0], [1, -2]], False),
        ([0, 2, 10], [[0, 0], [1, 0], [1, -2]], False),
        ([0, 0], [[0, 0], [1, 0]], False),
        ([0, 0], [[0, 0], [0, 0]], False),
        ([-1, -1], [[0, 0], [0, 0]], False),
    ],
)
def test_which_keys_are_on_a_paraboloid(y, z, found):
    assert on_paraboloid(np.array(y, float), np.array(z, float)) is found


@pytest.mark.parametrize("name", ["previous_token", "hop"])
def test_positions_are_looked_up(name):
    """In models in which a hull for each value of a coordinate would do as well."""
    given, _ = MODELS[name]
    layers = PrunedDecoder(PUBLIC[name](*given), 4).layers
    assert any(isinstance(heads.cache, Table) for layer in layers for heads in layer.heads)


@given(st.lists(st.tuples(small, small), min_size=1, max_size=40, unique=True))
def test_dominated_keys_are_dropped(keys):
    """What is left is a concave chain: its slopes do not rise."""
    hull = hulls.UpperHull()
    for x, y in keys:
        hull.add(x, y, [0])
    rises = np.diff(hull.y) * 1.0
    assert hull.x == sorted({*hull.x})
    assert (np.diff(rises / np.diff(hull.x)) <= 1e-12).all()
    assert {min(keys)[0], max(keys)[0]} <= {*hull.x}


def random_model(seed, masks=("causal", "strictly causal", "diagonal")):
    """Heads of all kinds on small integers, in which many scores are equal.

    Coordinate 0 of the stream has two values and is written by no head; the further coordinate of
    keys reads it alone.
    """
    rng = np.random.default_rng(seed)
    D, T, V, d = 5, 14, 3, 3
    E, P = rng.integers(-2, 3, (V + 1, D)), rng.integers(-1, 2, (T + 1, D))
    E[:, 0], P[:, 0] = rng.integers(0, 2, V + 1), 0
    blocks = []
    for _ in range(2):
        heads = int(rng.integers(1, 4))
        W_Q, W_K = (rng.integers(-2, 3, (heads, D, d)) for _ in range(2))
        b_Q, b_K = rng.integers(-2, 3, (heads, d)), rng.integers(-1, 2, (heads, d))
        for h, kind in enumerate(rng.integers(0, 6, heads)):
            free = {0: (), 1: (0,), 2: (0, 1), 3: (0, 2), 4: (0, 1), 5: (0, 1, 2)}[int(kind)]
            W_Q[h][:, [i for i in range(d) if i not in free]] = 0
            if kind == 2:  # a plane
                b_Q[h, 2] = 0
            if kind in (3, 4):
                W_K[h, 1:, free[1]] = 0
                b_Q[h, 3 - free[1]] = 1
            if seed % 2 and not W_Q[0][:, ~W_Q[h].any(0)].any():  # the keys of head 0 will do
                W_K[h], b_K[h], b_Q[h] = W_K[0], b_K[0], b_Q[0]
        W_V, W_O = rng.integers(-1, 2, (heads, D, 2)), rng.integers(-1, 2, (heads, 2, D))
        W_O[..., 0] = 0
        tensors = (torch.tensor(W, dtype=torch.float64) for W in (W_Q, W_K, W_V, W_O, b_Q, b_K))
        mask = [str(rng.choice(masks)) for _ in range(heads)]
        blocks.append(Block(Attention(*tensors, normalise="hardmax", mask=mask)))
    tensor = lambda W: torch.tensor(W, dtype=torch.float64)  # noqa: E731
    return Transformer(
        Embed(tensor(E)),
        blocks,
        Unembed(torch.eye(D, dtype=torch.float64)),
        pos_embed=PosEmbed(tensor(P)),
        interface=Tokens(V, T, prefix=(V,), answers=D),
        stream=Stream(x=D),
        name="random heads",
        source="tests",
    )


def outputs(model, tokens):
    """The outputs of both decoders after each token."""
    whole, pruned = model.decoder((), len(tokens)), PrunedDecoder(model, len(tokens))
    for token in tokens:
        by_cache = whole(torch.tensor([token]))[0].numpy()
        pruned.append(token)
        yield by_cache, pruned.outputs()


@pytest.mark.parametrize("seed", range(60))
def test_random_heads(seed):
    """Averages are rounded once, in layer 2 also in sums."""
    model = random_model(seed)
    tokens = np.random.default_rng(seed).integers(0, 3, 14).tolist()
    for by_cache, by_hulls in outputs(model, [3, *tokens]):
        assert np.allclose(by_hulls, by_cache, rtol=0, atol=1e-12)


def test_a_layer_without_heads_and_no_positions():
    """All keys of the heads are equal, however many coordinates of their queries are not."""
    model = random_model(0)
    model.pos_embed = None
    first, second = model.blocks
    width = model.d_model
    first.attn = None
    first.mlp = MLP(torch.eye(width), torch.ones(width), torch.eye(width), torch.zeros(width))
    first.mlp.double()
    with torch.no_grad():
        second.attn.W_K.zero_()
        second.attn.W_Q.fill_(1.0)
        second.attn.b_K.copy_(torch.tensor([-1.0, 0.0, 1.0]).expand_as(second.attn.b_K))
    for by_cache, by_hulls in outputs(model, [3, 0, 2, 1, 1, 0, 2]):
        assert np.allclose(by_hulls, by_cache, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dropped", ["on an edge", "above an edge", "none is"])
def test_a_wrong_dominance_is_noticed(dropped, monkeypatch):
    right = hulls._below
    wrong = {
        "on an edge": lambda a, b, x, y, c, d: (y - b) * (c - a) <= (d - b) * (x - a),
        "above an edge": lambda a, b, x, y, c, d: (y - b) * (c - a) > (d - b) * (x - a),
        "none is": lambda *given: False,
    }[dropped]
    monkeypatch.setattr(hulls, "_below", wrong)
    differ = 0
    for seed in range(60):
        tokens = np.random.default_rng(seed).integers(0, 3, 14).tolist()
        for by_cache, by_hulls in outputs(random_model(seed), [3, *tokens]):
            differ += not np.allclose(by_hulls, by_cache, rtol=0, atol=1e-12)
    assert differ > 0
    assert right(0, 0, 1, -1, 2, 0)


@pytest.mark.parametrize("seed", range(8))
def test_random_turing_machines_on_histories_of_random_moves(seed):
    """The prompts are any histories; no partial sum but the averages of moves is rounded."""
    rng = np.random.default_rng(seed)
    machine, T = random_machine(int(rng.integers(1, 5)), int(rng.integers(2, 4)), seed), 60
    model = turing_machine(machine, T)
    tokens = rng.integers(0, model.interface.vocabulary_size, T).tolist()
    for by_cache, by_hulls in outputs(model, [*model.interface.prefix, *tokens]):
        assert np.array_equal(by_hulls, by_cache)


@pytest.mark.parametrize("name", CAUSAL)
def test_models_of_the_library(name):
    given, inputs = MODELS[name]
    model = PUBLIC[name](*given)
    tokens = np.array(inputs[0])
    row = torch.from_numpy(tokens.reshape(-1, tokens.shape[-1])[0].astype(np.int64))
    for by_cache, by_hulls in outputs(model, model.interface.write(torch, row).tokens.tolist()):
        assert np.array_equal(by_hulls, by_cache)


@pytest.mark.parametrize("name", ["turing_machine", "scratchpad", "parity_with_steps", "hop"])
def test_generated_tokens_are_those_of_the_whole_cache(name, monkeypatch):
    """Also for a batch, whose keys are all cached unless its sequences are long."""
    given, inputs = MODELS[name]
    model = PUBLIC[name](*given)
    tokens = np.array(inputs[0])
    row = tokens.reshape(-1, tokens.shape[-1])[0]
    steps = model.interface.max_length - len(row) + 1
    found = model.generate(row, steps)
    assert torch.equal(model.generate(row[None], steps)[0], found)
    monkeypatch.setattr(Transformer, "pruned_decoder", lambda *_: None)
    assert torch.equal(model.generate(row, steps), found)


def test_what_has_ended_is_not_run_on(monkeypatch):
    """After the prefix and the prompt, the answer is ⊥."""
    calls, append = [], PrunedDecoder.append
    monkeypatch.setattr(PrunedDecoder, "append", lambda *args: [calls.append(1), append(*args)])
    assert previous_token(4, 10**6).generate([2], 1000).tolist() == [-1] * 1000
    assert len(calls) == 2


@pytest.mark.parametrize("addressed", [False, True])
def test_the_cache_of_a_turing_machine_is_its_tape(addressed):
    machine, T = MACHINES["wolfram-2-3"], 400
    model = turing_machine(machine, T, addressed=addressed)
    history = [*machine.writing([1]), *machine.run(T - 2, [1])]
    decoder, cells, cell = PrunedDecoder(model, T + 1), set(), 0
    for token in (*model.interface.prefix, *model.interface.tokens(history)):
        decoder.append(token)
    for step in history:
        cells.add(cell)
        cell += step.move
    assert decoder.cached[-1] in (len(cells), len(cells) + 1)


def test_long_sequences_of_a_batch_are_decoded_one_by_one(monkeypatch):
    """Each from an empty cache; one of them ends early."""
    machine, T = MACHINES["busy-beaver-3"], 40
    model = turing_machine(machine, T)
    words = [[0, 0], [1, 0], [0, 1], [1, 1]]
    prompts = [model.interface.prompt(word) for word in words]
    all_cached = model.generate(prompts, 20)
    monkeypatch.setattr(sequences, "ONE_BY_ONE", len(prompts[0]) + 20)
    monkeypatch.setattr(Transformer, "decoder", None)
    found = model.generate([prompts[:2], prompts[2:]], 20)
    assert found.shape == (2, 2, 20)
    assert torch.equal(found.view(4, 20), all_cached)
    assert any(-1 in row and row[0] >= 0 for row in all_cached.tolist())
    monkeypatch.setattr(sequences, "ONE_BY_ONE", len(prompts[0]) + 21)
    with pytest.raises(TypeError):
        model.generate(prompts, 20)


def test_the_announced_time_is_that_of_all_tokens(monkeypatch):
    """Of the prompts as well, and not of tokens after the end of a sequence."""
    paces = []

    class Recorded(sequences.Pace):
        def __init__(self, *given):
            super().__init__(*given)
            paces.append((self, self.total))

    monkeypatch.setattr(sequences, "Pace", Recorded)
    monkeypatch.setattr(sequences, "ONE_BY_ONE", 1)
    model = turing_machine(MACHINES["busy-beaver-3"], 40)
    prompts = [model.interface.prompt(word) for word in ([0, 0], [1, 1])]
    said = model.generate(prompts, 30)
    (pace, total), read = paces[0], 2 * (1 + len(prompts[0]))
    assert total == read + 2 * 30
    assert pace.total == pace.amount == read + int((said >= 0).sum()) < total


@pytest.mark.slow
def test_a_hundred_thousand_tokens():
    """Against the automaton and the machine themselves."""
    automaton, T = benchmark_automaton("A5"), 10**5
    word = np.random.default_rng(0).integers(automaton.n_symbols, size=T)
    model = scratchpad(automaton, T)
    states = model.interface.states(model.generate(model.interface.prompt(word), T)).tolist()
    state = automaton.start
    for symbol, found in zip(word.tolist(), states, strict=True):
        state = automaton.transitions[symbol][state]
        assert found == state


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (lambda: previous_token(3, 6, sharpness=20.0), "hardmax"),
        (lambda: previous_token(3, 6).to(torch.float32), "float64"),
    ],
)
def test_other_models_are_refused(model, reason):
    built = model()
    assert reason in unsuitable(built)
    with rejects(reason, "model.decoder"):
        PrunedDecoder(built, 4)
    assert built.pruned_decoder(4) is None


@pytest.mark.parametrize("token", [-1, 4, 1.0, None, "a"])
def test_tokens_that_are_no_rows_of_the_embedding_are_refused(token, unchecked):
    decoder = PrunedDecoder(previous_token(3, 6), 4)
    with rejects("no token"):
        decoder.outputs()
    with rejects("token is"):
        decoder.append(token)
    assert decoder.count == 0


def test_contexts_have_limits():
    model = previous_token(3, 6)
    PrunedDecoder(model, 7)
    for wrong in (8, 0, None):
        with rejects("context"):
            PrunedDecoder(model, wrong)
    decoder = PrunedDecoder(model, 2)
    decoder.append(3)
    decoder.append(0)
    with rejects("2 tokens"):
        decoder.append(0)


@pytest.mark.parametrize(("positions", "cache"), [(FEW // 2, Hulls), (FEW // 2 + 1, Table)])
def test_hulls_are_for_few_values_of_the_further_coordinates(positions, cache):
    """Two for tokens times one for each position; x reads another coordinate, of more values."""
    zeros = lambda *shape: torch.zeros(*shape, dtype=torch.float64)  # noqa: E731
    E, P, W_Q, W_K = zeros(4, 3), zeros(positions, 3), zeros(1, 3, 3), zeros(1, 3, 3)
    E[:, 0], P[:, 0] = torch.tensor([0.0, 0.5, 0.0, 0.5]), torch.arange(positions)
    E[:, 1], P[:, 1] = torch.arange(4) / 4, torch.arange(positions)
    W_Q[0, 2, :2], W_K[0, 1, 0], W_K[0, 0, 1] = 1.0, 1.0, 1.0
    tensors = (W_Q, W_K, zeros(1, 3, 1), zeros(1, 1, 3), zeros(1, 3) + 1, zeros(1, 3) + 1)
    model = Transformer(
        Embed(E),
        [Block(Attention(*tensors, normalise="hardmax", mask="causal"))],
        Unembed(torch.eye(3, dtype=torch.float64)),
        pos_embed=PosEmbed(P),
        interface=Tokens(3, positions - 1, prefix=(3,), answers=3),
        stream=Stream(x=3),
        source="tests",
    )
    (heads,) = PrunedDecoder(model, positions).layers[0].heads
    assert isinstance(heads.cache, cache)
    tokens = [3, *np.random.default_rng(0).integers(0, 3, positions - 1).tolist()]
    for by_cache, by_hulls in outputs(model, tokens):
        assert np.array_equal(by_hulls, by_cache)
