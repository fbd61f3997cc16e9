"""Our models inside an unmodified GPT2LMHeadModel; needs the extra `hf`."""

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import (
    circuit_evaluator,
    composition,
    gradient_descent,
    hop,
    induction_heads,
    newton,
    newton_with_pauses,
    parity,
    semiautomaton,
    turing_machine,
)
from constructions.graphs import search
from constructions.programs import compiled
from constructions.stock import Gadgets, to_gpt2
from theory.computation import A5, MACHINES, random_circuit
from theory.programs import evaluate
from theory.programs.library import order, patterns

transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")

RNG = np.random.default_rng(0)
D, N, K = 2, 5, 2
X, Y, Q = RNG.normal(size=(6, N, D)), RNG.normal(size=(6, N)), RNG.normal(size=(6, D))


@pytest.mark.parametrize(
    "model",
    [gradient_descent(D, K, 2.0**-5, causal=True), newton_with_pauses(D, K, 2.0**-5)],
    ids=["descent", "newton"],
)
def test_answers_are_within_their_bound(model):
    stock = to_gpt2(model, X, Y, Q)
    assert type(stock.module) is transformers.GPT2LMHeadModel
    off, bound = (stock(X, Y, Q) - model(X, Y, Q)).abs(), stock.bound(X, Y, Q)
    assert (off <= bound).all()
    assert bound.max() < 1e-8
    for H, v in zip(model.streams(X, Y, Q), stock.streams(X, Y, Q), strict=True):
        np.testing.assert_allclose(v[..., 1:, : model.d_model], H, atol=1e-9)


@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")
def test_what_the_last_norm_takes_away_is_in_the_bound():
    """Heads with output 0, and an unembedding of the inputs: only the last norm has an effect."""
    model = gradient_descent(D, 1, 2.0**-5, causal=True)
    model.attentions[0].W_O.zero_()
    model.unembed.W_U.zero_()[0] = 1.0
    stock = to_gpt2(model, X, Y, Q, gadgets=Gadgets(3, 2.0**-5, 52, 2.0**10, 2.0**20))
    for times in (1.0, 10.0):  # other inputs than it was made for are bounded by their own sizes
        inputs = times * X, times * Y, times * Q
        off, bound = (stock(*inputs) - model(*inputs)).abs(), stock.bound(*inputs)
        assert off.max() > 1e-6
        assert (off <= bound).all()
        assert bound.max() < 10 * off.max()


@pytest.mark.parametrize(
    "model",
    [
        induction_heads(4, 12),
        hop(3, 4, 12),
        semiautomaton(A5, 12),  # of more answers than tokens
        turing_machine(MACHINES["busy-beaver-2"], 6),
        turing_machine(MACHINES["busy-beaver-2"], 6, addressed=True),
    ],
    ids=lambda model: model.name,
)
def test_answers_over_tokens_are_those_of_hardmax(model):
    faces, stock = model.interface, to_gpt2(model)
    most = min(slot.stop for slot in faces.slots) if faces.slots else faces.vocabulary_size
    tokens = RNG.integers(0, most, (20, faces.max_length))
    assert torch.equal(stock(tokens), model(tokens))
    assert (stock.logits(tokens) - model.logits(tokens)).abs().max() <= stock.bound()


@pytest.mark.parametrize("shape", [(12,), (3, 12), (2, 3, 12)])
def test_the_unembedding_of_the_last_stream_is_the_logits(shape):
    stock, tokens = to_gpt2(induction_heads(4, 12)), RNG.integers(0, 4, shape)
    last = [*stock.streams(tokens)][-1][..., stock.prompt(tokens).answers, :]
    assert torch.allclose(stock.unembedding(last), stock.logits(tokens), rtol=0, atol=1e-9)


def test_tokens_that_are_no_answers_are_never_said():
    model = circuit_evaluator(2, 3)
    rows = RNG.integers(0, 2, (20, 2))
    prompts = np.stack([model.interface.prompt(random_circuit(2, 3, RNG), row) for row in rows])
    module, answers = to_gpt2(model).module, model.unembed.W_U.shape[1]
    assert answers < module.config.vocab_size
    begun = np.pad(prompts, ((0, 0), (1, 0)), constant_values=model.interface.prefix[0])
    logits = module(torch.as_tensor(begun)).logits[:, -1]
    assert (logits[:, answers:].amax(-1) < logits[:, :answers].amin(-1)).all()


@pytest.mark.parametrize(
    "model",
    [
        induction_heads(4, 12),
        induction_heads(4, 12, no_match="self"),
        circuit_evaluator(2, 3),
        search(3, 2),
    ],
    ids=["an answer", "a further token", "a further token of many", "an answer of few"],
)
def test_generation_ends_with_no_answer_or_with_a_further_token(model):
    """All tokens of the model, its answers and the token that ends a text have rows."""
    module, faces = to_gpt2(model).module, model.interface
    rows, end = len(module.transformer.wte.weight), module.config.eos_token_id
    known = max(len(model.embed.W_E), model.unembed.W_U.shape[1])
    assert (end, rows) == ((faces.n_answers, known) if faces.bottom else (known, known + 1))
    assert len(module.lm_head.weight) == module.config.vocab_size == rows


def test_of_a_composition_the_last_token_is_answered():
    model = composition(3)
    stock = to_gpt2(model)
    tokens = RNG.integers(0, 3, (20, 7))
    assert torch.equal(stock(tokens), model(tokens)[..., -1:])


def test_a_saved_folder_gives_the_same_logits_and_generates(tmp_path):
    model = induction_heads(8, 32)
    stock = to_gpt2(model)
    stock.module.save_pretrained(tmp_path)
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float64)
    prompt = torch.tensor([[8, 3, 1, 4, 1, 5, 2, 3]])
    assert torch.equal(again(prompt).logits, stock.module(prompt).logits)
    said = again.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=4, do_sample=False
    )
    assert said[0, -4:].tolist() == [1, 5, 2, 3]
    assert model.generate([3, 1, 4, 1, 5, 2, 3], 4).tolist() == [1, 5, 2, 3]


def test_embeddings_stay_untied_unless_the_config_is_changed(tmp_path):
    """A tied head would read what the embedding writes, and ours reads the answer elsewhere."""
    module = to_gpt2(induction_heads(8, 32)).module
    prompt = torch.tensor([[8, 3, 1, 4, 1, 5, 2, 3]])
    wanted = module(prompt).logits
    assert module.config.tie_word_embeddings is False
    module.save_pretrained(tmp_path)
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float64)
    assert again.config.tie_word_embeddings is False
    again.tie_weights()
    assert torch.equal(again(prompt).logits, wanted)
    again.resize_token_embeddings(len(again.lm_head.weight) + 3)  # rows that mean nothing
    again.tie_weights()
    assert torch.allclose(again(prompt).logits[..., :-3], wanted, rtol=0, atol=1e-14)
    again.config.tie_word_embeddings = True
    again.tie_weights()
    assert again.lm_head.weight is again.transformer.wte.weight
    assert (again(prompt).logits[..., :-3] - wanted).abs().max() > 1


def test_a_batch_without_prompts_has_no_answers():
    model = induction_heads(8, 16)
    stock, none = to_gpt2(model), torch.zeros((3, 0, 4), dtype=torch.long)
    assert stock(none).shape == model(none).shape == (3, 0, 4)
    for ours, theirs in zip(model.streams(none), stock.streams(none), strict=True):
        assert ours.shape[:-1] == theirs.shape[:-1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kernel", ["eager", "sdpa"])
def test_induction_is_right_in_every_format_down_to_bfloat16(dtype, kernel):
    model = induction_heads(8, 32)
    stock, tokens = to_gpt2(model, dtype=dtype), RNG.integers(0, 8, (20, 32))
    stock.module.set_attn_implementation(kernel)
    assert torch.equal(stock(tokens), model(tokens))
    assert (stock.logits(tokens).double() - model.logits(tokens)).abs().max() <= stock.bound()
    assert stock.bound() < 2e-5


def test_newtons_method_opens_from_a_folder(tmp_path):
    stock = to_gpt2(newton_with_pauses(D, K, 2.0**-5), X, Y, Q)
    stock.module.save_pretrained(tmp_path)
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float64)
    embeds = stock.prompt(X, Y, Q).tokens @ again.get_input_embeddings().weight
    assert torch.allclose(again(inputs_embeds=embeds).logits[:, -1, 0], stock(X, Y, Q))


@pytest.mark.parametrize("positions", [0, -1, 1.5, True])
@pytest.mark.usefixtures("unchecked")
def test_positions_are_a_number_of_tokens(positions):
    with rejects("positions"):
        to_gpt2(newton_with_pauses(D, K, 2.0**-5), X, Y, Q, positions=positions)


def test_more_positions_than_fit_are_refused():
    with rejects("positions"):
        to_gpt2(newton_with_pauses(D, K, 2.0**-5), X, Y, Q, positions=10**12)


def test_a_turing_machine_runs_by_generate_and_ends_where_it_halts():
    model = turing_machine(MACHINES["busy-beaver-2"], 12)
    start = model.interface.prompt()
    wanted = [token for token in model.generate(start, 11 - len(start)).tolist() if token >= 0]
    prompt = torch.tensor([[*model.interface.prefix, *start]])
    module = to_gpt2(model).module
    said = module.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=10, do_sample=False
    )[0, prompt.shape[1] :].tolist()
    end = module.config.eos_token_id
    assert said == [*wanted, end]
    assert len(wanted) > 1


def test_what_a_causal_model_cannot_see_is_rejected():
    with rejects("layer 2", "newton"):
        to_gpt2(newton(D, K, 2.0**-10), X, Y, Q)
    with rejects("layer 1", "parity"):
        to_gpt2(parity(4))
    stock = to_gpt2(gradient_descent(D, K, 2.0**-5, causal=True), X, Y, Q, positions=6)
    with rejects("7", "6"):
        stock(X, Y, Q)
    # Tokens are vectors of 7 numbers, and the limit is on the number of tokens.
    stock = to_gpt2(gradient_descent(D, K, 2.0**-5, causal=True), X, Y, Q, positions=10)
    with rejects("12", "10"):
        stock(np.tile(X, (2, 1)), np.tile(Y, 2), Q)
    with rejects("positions"):
        to_gpt2(hop(1, 3, 4), positions=3)


def test_causal_programs_have_their_values():
    """`induction` has a layer without heads."""
    program = patterns.induction()
    model = compiled(program, "abc", 6, causal=True)
    stock = to_gpt2(model)
    rows = [[*"abcabc"], [*"aabbcc"], [*"cbabca"]]
    assert stock(rows) == [evaluate(program, row, causal=True) for row in rows]
    with rejects("to_encoder"):
        to_gpt2(compiled(order.sort(), "abc", 6))
