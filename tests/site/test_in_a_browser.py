"""Pages in Chromium: the same numbers as torch's, by keyboard, in narrow windows, light and dark.

Skipped where Chromium or selenium is not installed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from verify.ledger.theorems import ledger, theorem
from verify.site.exported import exported, runs, sample
from verify.site.shown import model_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
PROMPTS = 200


def one(within, selector):
    return within.find_element("css selector", selector)


def every(within, selector):
    return within.find_elements("css selector", selector)


def typed_into(browser, text):
    """The line of tokens, which has this text and no other."""
    line = one(browser, ".ww-tokens")
    line.clear()
    line.send_keys(text)
    return line


def box(name, values, kind="ww-model"):
    model, _ = model_of(theorem(name), values)
    data = json.dumps(exported(model))
    return f'<div class="{kind}" id="it"><script type="application/json">{data}</script></div>'


def prompts(interface, rng, count):
    """The shortest, the longest of few tokens (where scores tie), the longest, and others."""
    most = interface.length or interface.max_length
    least = interface.length or interface.least
    slots = interface.slots or [range(interface.vocabulary_size)] * most
    for i in range(count):
        T = [least, most, most][i] if i < 3 else int(rng.integers(least, most + 1))
        few = 2 if i == 1 else most + interface.vocabulary_size
        yield [int(rng.integers(s.start, min(s.stop, s.start + few))) for s in slots[:T]]


def test_models_say_in_a_page_what_they_say_in_torch(opened):
    browser, rng, count = opened(""), np.random.default_rng(0), 0
    for entry in ledger().values():
        model, _ = model_of(entry, {}) or (None, None)
        if model is None or not runs(model):
            continue
        asked = list(prompts(model.interface, rng, 6))
        said = browser.execute_script(
            "const model = new weightwright.Model(arguments[0]);"
            "return arguments[1].map((tokens) => {"
            "  const {streams, logits, answers, patterns} = model.answer(tokens);"
            "  return {rejected: model.rejected(tokens), answers,"
            "          logits: logits.map((row) => [...row].map(String)),"
            "          streams: streams.map((H) => H.map((row) => [...row].map(String))),"
            "          patterns: patterns.map((all) => all.map((A) => A.map((row) => [...row])))};"
            "});",
            exported(model),
            asked,
        )
        for tokens, found in zip(asked, said, strict=True):
            assert found["rejected"] == "", (entry.name, tokens)
            count += 1
            tokens = np.array(tokens)  # numbers, also of tokens with names
            assert found["answers"] == model(tokens).tolist(), (entry.name, tokens)
            near = {"rtol": 1e-13, "atol": 1e-13, "equal_nan": True}
            logits = np.array(found["logits"], dtype=float)
            assert np.allclose(logits, model.logits(tokens), **near), (entry.name, tokens)
            for ours, theirs in zip(model.streams(tokens), found["streams"], strict=True):
                assert np.allclose(np.array(theirs, dtype=float), ours, **near), entry.name
            prompt = model.prompt(tokens)
            for H, block, theirs in zip(
                model.residual_stream(prompt), model.blocks, found["patterns"], strict=False
            ):
                if block.attn is not None and not np.isnan(H).any():
                    ours = block.attn.pattern(H, prompt.n_examples)
                    kept = np.array(theirs)[..., : ours.shape[-1]]
                    assert np.allclose(kept, ours, **near), entry.name
    assert count >= PROMPTS


@pytest.mark.parametrize(
    "given",
    [{}, {"layout": "paper", "n": 4}, {"causal": True}, {"interleaved": True}],
    ids=["examples", "relu", "causal", "hardmax"],
)
def test_models_over_numbers_have_the_same_streams(opened, given):
    """By every normalisation and mask that models over tokens have no use for."""
    from constructions import newton

    model, rng = newton(2, 2, 2.0**-5, **given), np.random.default_rng(0)
    prompt = model.prompt(*(rng.standard_normal(shape) for shape in ((4, 2), (4,), (2,))))
    script = (
        "const {streams} = new weightwright.Model(arguments[0]).run(arguments[1], arguments[2]);"
        "return streams.map((H) => H.map((row) => [...row]))"
    )
    data = exported(model), prompt.tokens.tolist(), prompt.n_examples
    streams = opened("").execute_script(script, *data)
    for ours, theirs in zip(model.residual_stream(prompt), streams, strict=True):
        assert np.allclose(theirs, ours, rtol=1e-12, atol=1e-13)


def test_a_page_opens_with_its_sample(opened):
    browser, model = opened(box("hop", {})), model_of(theorem("hop"), {})[0]
    tokens, _ = sample(model)
    line = one(browser, ".ww-tokens")
    assert line.get_attribute("value") == " ".join(map(str, tokens))
    said = one(browser, "#it").get_attribute("data-answers")
    assert json.loads(said) == model(tokens).tolist()
    every(browser, "button")[0].click()
    assert len(line.get_attribute("value").split()) == len(tokens)


def test_a_wrong_weight_is_seen(opened):
    browser = opened("")
    model, _ = model_of(theorem("induction"), {})
    data = exported(model)
    data["blocks"][1]["heads"][0]["W_Q"]["is"][0] *= -1
    tokens = [1, 2, 3, 1, 2, 3, 1, 2]
    script = "return new weightwright.Model(arguments[0]).answer(arguments[1]).answers"
    assert browser.execute_script(script, data, tokens) != model(tokens).tolist()
    data = exported(model)
    assert browser.execute_script(script, data, tokens) == model(tokens).tolist()
    for block in data["blocks"]:  # a hardmax compares, however little scores differ
        for part in (block["heads"][0]["W_Q"]["is"], block["heads"][0]["b_Q"]):
            part[:] = [2.0**-30 * weight for weight in part]
    assert browser.execute_script(script, data, tokens) == model(tokens).tolist()


def test_frequencies_that_are_equal_but_for_rounding_are_equal(opened):
    model, _ = model_of(theorem("broad-average"), {"V": 2, "n": 30})
    data, script = exported(model), "return new weightwright.Model(arguments[0]).answer([0, 1])"
    for much, answers in ((1e-9, [0, 0]), (0.4, [1, 1])):
        data["b_U"] = [0.0, much]
        read = model.interface.read(model.logits([0, 1]) + much * np.eye(2)[1], np.zeros(2))
        said = opened("").execute_script(f"{script}.answers", data)
        assert said[1] == read[1] == answers[1]


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("induction", "", "type at least one token"),
        ("induction", "1 x", "tokens are integers from 0 to 7"),
        ("induction", "1.5", "tokens are integers from 0 to 7"),
        ("induction", "9", "tokens are integers from 0 to 7"),
        ("induction", "1 " * 31, "this model was built for at most 30 tokens"),
        ("subset-parity", "1 0", "this model takes 9 tokens"),
        ("string-model", "0", "place 1 takes a token from 4 to 4"),
        ("string-model", "4 4", "place 2 takes a token from 0 to 3"),
        ("circuits-of-nand", "0 1", "this model takes at least 67 tokens"),
    ],
)
def test_what_is_typed_wrong_gets_a_line_and_no_answers(opened, name, typed, said):
    browser = opened(box(name, {}))
    it = one(browser, "#it")
    assert it.get_attribute("data-answers")
    line = typed_into(browser, typed or "1\b")
    assert one(browser, ".ww-message").text.startswith(said)
    assert line.get_attribute("aria-invalid") == "true"
    assert it.get_attribute("data-answers") is None
    assert every(browser, "table, svg") == []
    assert not any(b.is_enabled() for b in every(it, "button")[1:])


def test_by_keyboard_alone(opened):
    from selenium.webdriver.common.keys import Keys

    browser = opened(box("induction", {}))
    model, _ = model_of(theorem("induction"), {})
    line = typed_into(browser, "3 1 4 1 5 3")
    it = one(browser, "#it")
    assert json.loads(it.get_attribute("data-answers")) == model([3, 1, 4, 1, 5, 3]).tolist()
    assert "At home: print(model([3, 1, 4, 1, 5, 3]))" in it.text
    assert "⊥: the model has no answer (in Python −1)." in it.text
    line.send_keys(Keys.TAB)
    browser.switch_to.active_element.send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.text == "Continue"
    focused.send_keys(Keys.ENTER)
    assert line.get_attribute("value") == "3 1 4 1 5 3 1"
    layer = one(browser, 'input[type="range"]')
    layer.send_keys(Keys.HOME)
    assert "the embedding" in it.text
    layer.send_keys(Keys.ARROW_RIGHT)
    assert "after layer 1 of 2" in it.text


@pytest.mark.parametrize(
    ("name", "typed"), [("graph-search", "12 18 24 1"), ("induction", "1 2 1")]
)
def test_what_is_continued_is_what_torch_generates(opened, name, typed):
    """To its end, which is ⊥ for a search, and the longest sequence for repeated tokens."""
    values = {"n": 9} if name == "induction" else {"n": 5, "m": 4}
    browser, model = opened(box(name, values)), model_of(theorem(name), values)[0]
    line = typed_into(browser, typed)
    on = every(browser, "button")[1]
    while on.is_enabled():
        on.click()
    given = [int(word) for word in typed.split()]
    steps = model.generate(given, model.interface.max_length - len(given)).tolist()
    went_on = steps[: steps.index(-1)] if -1 in steps else steps
    assert len(went_on) > 1
    assert [int(word) for word in line.get_attribute("value").split()] == given + went_on


def cells(browser, label):
    """The titles of a picture's cells, "row, column: value", in no order."""
    found = every(browser, f"svg[aria-label='{label}'] title")
    return sorted(each.get_attribute("textContent") for each in found)


def titles(M, down, across):
    """The same of a matrix whose rows and columns have these names; entries are exact."""
    return sorted(
        f"{down[r]}, {across[c]}: {float(M[r, c]):g}".replace("-", "−")
        for r, c in np.argwhere(np.asarray(M)).tolist()
    )


def test_pictures_show_every_weight_and_register(opened):
    values = {"k": 2, "T": 3, "D": 4}
    browser = opened(box("dyck-bounded", values) + box_of_weights())
    model, _ = model_of(theorem("dyck-bounded"), values)
    spans = [(name, model.stream[name]) for name in model.stream]
    registers = [
        name if span.stop - span.start == 1 else f"{name}[{i}]"
        for name, span in spans
        for i in range(span.stop - span.start)
    ]
    more, vocabulary = [*registers, "1"], [f"tokens[{i}]" for i in range(len(model.embed.W_E))]
    assert cells(browser, "embedding, of each token (down)") == titles(
        model.embed.W_E, vocabulary, registers
    )
    biased = 0
    for n, block in enumerate(model.blocks, 1):
        for h in range(block.attn.n_heads if block.attn else 0):
            name = f"layer {n}, head {h + 1}" if block.attn.n_heads > 1 else f"layer {n}, head"
            W_Q, W_K, W_V, W_O, b_Q, b_K = (
                getattr(block.attn, each)[h].numpy()
                for each in ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K")
            )
            scores = np.vstack([W_Q, b_Q]) @ np.vstack([W_K, b_K]).T
            assert cells(browser, f"{name}: queries (down) and keys") == titles(scores, more, more)
            assert cells(browser, f"{name}: value (down) to output") == titles(
                W_V @ W_O, registers, registers
            )
        if block.mlp:
            W_in, b_in, W_out, b_out = (each.numpy() for each in block.mlp.parameters())
            units = [f"neurons[{i}]" for i in range(len(b_in))] if len(b_in) > 1 else ["neurons"]
            biased += np.count_nonzero(b_in) + np.count_nonzero(b_out)
            assert cells(browser, f"layer {n}, MLP: inputs of its neurons (down)") == titles(
                np.vstack([W_in, b_in]).T, units, more
            )
            assert cells(browser, f"layer {n}, MLP: outputs of its neurons (down)") == titles(
                np.vstack([W_out, b_out]), [*units, "1"], registers
            )
    assert biased
    typed_into(browser, "0 2 2")
    *_, before, last = model.streams([0, 2, 2])
    pattern = model.blocks[-1].attn.pattern(before, 0)[0]
    for label, shown in {"registers": last, f"attention of layer {n}, head 1": pattern}.items():
        numbers = [each.split(": ")[1].replace("−", "-") for each in cells(browser, label)]
        assert sorted(map(float, numbers)) == pytest.approx(
            sorted(shown[shown != 0].tolist()), rel=1e-13
        )


def test_newton_by_keyboard(opened):
    import torch
    from selenium.webdriver.common.keys import Keys

    from constructions import newton

    models = [newton(2, k, 2.0**-5, start="identity") for k in range(4)]
    data = json.dumps([exported(model) for model in models])
    script = f'<script type="application/json">{data}</script>'
    browser = opened(f'<div class="ww-newton" id="it">{script}</div>')
    first = one(browser, ".ww-point")
    first.send_keys(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_LEFT)
    points = [[-0.95, -0.4], [-0.5, -0.6], [-0.1, 0.1], [0.3, 0.2], [0.6, 0.7], [0.9, 0.6]]
    x = torch.tensor([[1.0, a] for a, _ in points], dtype=torch.float64)
    y = torch.tensor([b for _, b in points], dtype=torch.float64)
    grid = torch.tensor([[1.0, -1 + i / 20] for i in range(41)], dtype=torch.float64)
    shown = json.loads(one(browser, "#it").get_attribute("data-predictions"))
    assert np.allclose(shown, models[3](x, y, grid), rtol=1e-13, atol=1e-13)
    for each in every(browser, ".ww-point"):
        least = np.linalg.lstsq(x, y)[0]
        heights = 1.2 * (180 - path(browser, ".ww-least")) / 150
        assert np.allclose(heights, grid @ least, atol=1e-9)
        off = np.abs(np.array(shown) - (grid @ least).numpy()).max()
        said = re.search(r"at most (\S+) off", one(browser, "#it").text)[1]
        assert float(said) == float(f"{off:.1e}")
        each.send_keys(Keys.ARROW_RIGHT * 40)  # to the edge, where it stays
        x[int(each.get_attribute("aria-label")[8]) - 1, 1] = 1.0
        shown = json.loads(one(browser, "#it").get_attribute("data-predictions"))
        assert np.allclose(shown, models[3](x, y, grid), rtol=1e-13, atol=1e-13)
    heights = 1.2 * (180 - path(browser, ".ww-least")) / 150  # of the least norm, now
    assert np.allclose(heights, grid @ np.linalg.lstsq(x, y)[0], atol=1e-9)
    assert np.allclose(1.2 * (180 - path(browser, ".ww-now")) / 150, shown, atol=1e-9)
    assert len(every(browser, ".ww-before")) == 3


def path(browser, which):
    """The heights of a line's points, in the picture's units."""
    d = one(browser, which).get_attribute("d")
    return np.array([float(point.split()[1]) for point in d[1:].split("L")])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_of_a_window(opened, theme, width):
    browser = opened("", theme)
    browser.set_window_size(width, 900)
    browser = opened(box("dyck", {"k": 5, "T": 7}) + box_of_weights(), theme)
    wide = "return [document.documentElement.scrollWidth, window.innerWidth]"
    needed, given = browser.execute_script(wide)
    assert needed <= given
    colour = browser.execute_script(
        "return getComputedStyle(document.body).getPropertyValue('--ww-ground')"
    )
    assert colour.strip() == {"light": "#f4f4f2", "dark": "#23262b"}[theme]


@pytest.mark.parametrize("name", ["constructions", "template", "theory.language"])
def test_what_can_be_imported_fits_a_narrow_window(browser, name):
    page = Path(__file__).parents[2] / "docs" / "_build" / "html" / "api" / f"{name}.html"
    if not page.exists():
        pytest.skip("the site is not built: make docs")
    browser.set_window_size(360, 900)
    browser.get(page.as_uri())
    wide = "return [document.documentElement.scrollWidth, window.innerWidth]"
    needed, given = browser.execute_script(wide)
    assert needed <= given


def box_of_weights():
    return '<div class="ww-drawn" data-of="it"></div>'
