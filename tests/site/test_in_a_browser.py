"""Pages in Chromium: the same numbers as torch's, by keyboard, in narrow windows, light and dark.

Skipped where Chromium or selenium is not installed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import verify.site
from theory.checks import InputError
from verify.site.exported import exported, runs
from verify.site.shown import model_of
from verify.theorems import ledger, theorem

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
STATIC = Path(verify.site.__file__).with_name("static")
PROMPTS = 200
PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>{css}</style><body data-theme="{theme}">{body}
<script>{model}</script><script>{view}</script><script>{newton}</script>"""


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("selenium", reason="needs the extra [docs]")
    from selenium import webdriver

    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in paths:
        pytest.skip("needs chromium and chromedriver on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = paths[0]
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    driver = webdriver.Chrome(options, webdriver.ChromeService(paths[1]))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    def opened(body, theme="light"):
        parts = {
            name: (STATIC / file).read_text(encoding="utf-8")
            for name, file in {
                "css": "site.css",
                "model": "model.js",
                "view": "view.js",
                "newton": "newton.js",
            }.items()
        }
        page = tmp_path / "page.html"
        page.write_text(PAGE.format(theme=theme, body=body, **parts), encoding="utf-8")
        browser.get(page.as_uri())
        return browser

    return opened


def box(name, values, kind="ww-model"):
    model, _ = model_of(theorem(name), values)
    data = json.dumps(exported(model))
    return f'<div class="{kind}" id="it"><script type="application/json">{data}</script></div>'


def prompts(interface, rng, count):
    for _ in range(count):
        most = interface.max_length if interface.length is None else interface.length
        T = int(rng.integers(1, min(most, 20) + 1)) if interface.length is None else most
        slots = interface.slots or [range(interface.vocabulary_size)] * T
        yield [int(rng.integers(slot.start, slot.stop)) for slot in slots[:T]]


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
            "  return {refused: model.refused(tokens), answers,"
            "          logits: logits.map((row) => [...row].map(String)),"
            "          streams: streams.map((H) => H.map((row) => [...row].map(String))),"
            "          patterns: patterns.map((all) => all.map((A) => A.map((row) => [...row])))};"
            "});",
            exported(model),
            asked,
        )
        for tokens, found in zip(asked, said, strict=True):
            assert found["refused"] == ""
            try:
                answers = model(tokens)
            except InputError:  # what its tokens have to mean besides: well-formed circuits
                continue
            count += 1
            assert found["answers"] == answers.tolist(), (entry.name, tokens)
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


def test_a_wrong_weight_is_seen(opened):
    browser = opened("")
    model, _ = model_of(theorem("induction"), {})
    data = exported(model)
    data["blocks"][1]["heads"][0]["W_Q"]["is"][0] *= -1
    tokens = [1, 2, 3, 1, 2, 3, 1, 2]
    script = "return new weightwright.Model(arguments[0]).answer(arguments[1]).answers"
    assert browser.execute_script(script, data, tokens) != model(tokens).tolist()
    assert browser.execute_script(script, exported(model), tokens) == model(tokens).tolist()


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("induction", "", "type at least one token"),
        ("induction", "1 x", "tokens are whole numbers from 0 to 7"),
        ("induction", "1.5", "tokens are whole numbers from 0 to 7"),
        ("induction", "9", "tokens are whole numbers from 0 to 7"),
        ("induction", "1 " * 31, "this model was built for at most 30 tokens"),
        ("subset-parity", "1 0", "this model takes 9 tokens"),
        ("string-model", "0", "place 1 takes a token from 4 to 4"),
    ],
)
def test_what_is_typed_wrong_gets_a_line(opened, name, typed, said):
    from selenium.webdriver.common.by import By

    browser = opened(box(name, {}))
    line = browser.find_element(By.CSS_SELECTOR, ".ww-tokens")
    line.clear()
    line.send_keys(typed or "1\b")
    assert browser.find_element(By.CSS_SELECTOR, ".ww-message").text.startswith(said)
    assert line.get_attribute("aria-invalid") == "true"


def test_by_keyboard_alone(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser = opened(box("induction", {}))
    model, _ = model_of(theorem("induction"), {})
    line = browser.find_element(By.CSS_SELECTOR, ".ww-tokens")
    line.clear()
    line.send_keys("3 1 4 1 5 3")
    it = browser.find_element(By.ID, "it")
    assert json.loads(it.get_attribute("data-answers")) == model([3, 1, 4, 1, 5, 3]).tolist()
    assert "At home: print(model([3, 1, 4, 1, 5, 3]))" in it.text
    assert "⊥: the model says that there is none (in Python −1)." in it.text
    line.send_keys(Keys.TAB)
    browser.switch_to.active_element.send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.text == "Continue"
    focused.send_keys(Keys.ENTER)
    assert line.get_attribute("value") == "3 1 4 1 5 3 1"
    layer = browser.find_element(By.CSS_SELECTOR, 'input[type="range"]')
    layer.send_keys(Keys.HOME)
    assert "the embedding" in it.text
    layer.send_keys(Keys.ARROW_RIGHT)
    assert "after layer 1 of 2" in it.text


def test_newton_by_keyboard(opened):
    import torch
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    from constructions import newton

    models = [newton(2, k, 2.0**-5, start="identity") for k in range(4)]
    data = json.dumps([exported(model) for model in models])
    script = f'<script type="application/json">{data}</script>'
    browser = opened(f'<div class="ww-newton" id="it">{script}</div>')
    first = browser.find_element(By.CSS_SELECTOR, ".ww-point")
    first.send_keys(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_LEFT)
    points = [[-0.95, -0.4], [-0.5, -0.6], [-0.1, 0.1], [0.3, 0.2], [0.6, 0.7], [0.9, 0.6]]
    x = torch.tensor([[1.0, a] for a, _ in points], dtype=torch.float64)
    y = torch.tensor([b for _, b in points], dtype=torch.float64)
    grid = torch.tensor([[1.0, -1 + i / 20] for i in range(41)], dtype=torch.float64)
    shown = json.loads(browser.find_element(By.ID, "it").get_attribute("data-predictions"))
    assert np.allclose(shown, models[3](x, y, grid), rtol=1e-13, atol=1e-13)


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


def box_of_weights():
    return '<div class="ww-drawn" data-of="it"></div>'
