"""Programs on a page in Chromium: the values by definition, and a line for wrong tokens."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from test_in_a_browser import box, every, one, typed_into

from constructions.programs import chomsky_scratchpad, chomsky_task, compiled
from theory.programs import evaluate, tokens
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.decoded import SCRATCHPADS
from verify.ledger.theorems import theorem
from verify.site.exported import exported
from verify.site.programs import MAX_LENGTH, PLACE, PROGRAMS, with_programs
from verify.site.shown import model_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def page():
    return with_programs(PLACE)


def chosen(select, text):
    """The option with this text, chosen by keyboard."""
    from selenium.webdriver.common.keys import Keys

    options = [each.text for each in every(select, "option")]
    select.send_keys(Keys.HOME, Keys.ARROW_DOWN * options.index(text))


def row(browser, which):
    """The texts in a row of the table of tokens and answers."""
    return [each.text for each in every(every(browser, ".ww-answers tr")[which], "td")]


def text(value):
    return "⊥" if value is None else str(value)


def test_every_program_has_the_values_by_definition(opened, page):
    browser, rng = opened(page), np.random.default_rng(0)
    programs, parameters = every(browser, "select")
    for program in PROGRAMS:
        chosen(programs, program.function.__name__)
        shown = one(browser, ".ww-programs").text
        assert f"def {program.function.__name__}(" in shown
        for number, arguments in enumerate(program.arguments):
            if arguments:
                chosen(parameters, ", ".join(map(repr, arguments)))
            assert parameters.is_displayed() == bool(arguments)
            given = [program.first] if number == 0 else []
            for length in (1, 5, MAX_LENGTH):
                places = rng.integers(len(program.vocabulary), size=length)
                given.append([program.vocabulary[i] for i in places])
            for i, x in enumerate(given):
                if number or i:
                    typed_into(browser, " ".join(map(str, x)))
                assert row(browser, 0) == [*map(str, x)]
                values = evaluate(program.function(*arguments), x)
                assert row(browser, 1) == [*map(text, values)], (program, arguments, x)


def test_the_shown_call_builds_the_shown_model(opened, page):
    browser = opened(page)
    programs, parameters = every(browser, "select")
    chosen(programs, "shift_by")
    typed_into(browser, "abca")
    chosen(parameters, "2")
    assert row(browser, 0) == [*"abca"]  # what was typed stays
    assert row(browser, 1) == ["⊥", "⊥", "a", "b"]
    exec(every(browser, "pre")[1].text, found := {})
    home = re.search(r"At home: print\((.*)\)", one(browser, ".ww-programs").text)[1]
    assert eval(home, found) == [None, None, "a", "b"]
    assert "⊥: the model has no answer (in Python None)." in one(browser, ".ww-programs").text
    registers = len(every(browser, ".ww-weights svg"))
    chosen(programs, "sort")  # whose tokens are others
    assert row(browser, 0) == ["3", "1", "4", "1", "0", "2"]
    assert len(every(browser, ".ww-weights svg")) > registers > 0


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "type at least one token"),
        ("abe", "tokens are a, b, c, d"),
        ("0 1", "tokens are a, b, c, d"),
        ("<b>", "tokens are a, b, c, d"),
        ("a" * (MAX_LENGTH + 1), f"this model was built for at most {MAX_LENGTH} tokens"),
    ],
)
def test_wrong_tokens_get_a_line_and_no_answers(opened, page, typed, said):
    browser = opened(page)
    line = typed_into(browser, typed or "a\b")
    assert one(browser, ".ww-message").text == said
    assert line.get_attribute("aria-invalid") == "true"
    assert every(browser, ".ww-model table, .ww-model svg") == []


def test_tokens_with_the_same_text_are_typed_as_python_has_them(opened):
    model = compiled(tokens, ["0", 0, "a b", "c,d"], 4)
    data = json.dumps(exported(model))
    script = f'<script type="application/json">{data}</script>'
    browser = opened(f'<div class="ww-model" id="it">{script}</div>')
    typed_into(browser, "'0' 0 'ab' 'c,d'")
    assert row(browser, 1) == row(browser, 0) == ["'0'", "0", "'ab'", "'c,d'"]
    home = re.search(r"At home: print\((.*)\)", one(browser, "#it").text)[1]
    assert eval(home) == ["0", 0, "a b", "c,d"]


def test_a_task_has_its_output(opened):
    browser = opened(box("chomsky-constant-depth", {"n": 9}))
    typed_into(browser, "0 1 1 0 1")
    assert row(browser, 1) == [*"10110"]
    assert "∅" in [each.text for each in every(browser, "svg text")]
    assert not every(browser, "button")[1].is_displayed()
    script = (
        "const model = new weightwright.Model(arguments[0]);"
        "return arguments[1].map((tokens) => model.answer(tokens).answers)"
    )
    rng = np.random.default_rng(0)
    for name in ("cycle navigation", "stack manipulation", "missing duplicate"):
        inputs = [TASKS[name].draw(length, rng) for length in (1, 2, 5, 8)]
        model = chomsky_task(name, 8)
        found = browser.execute_script(script, exported(model), inputs)
        values = model.interface.values
        assert [[values[i] for i in each] for each in found] == [*map(TASKS[name].answer, inputs)]


def test_a_working_is_continued_to_its_answer(opened):
    name, x = "binary multiplication", [1, 1, 2, 1]
    model, _ = model_of(theorem("chomsky-scratchpads"), {})
    assert model.call.value("name") == name
    pad = SCRATCHPADS[name]
    browser = opened(box("chomsky-scratchpads", {}))
    line = typed_into(browser, " ".join(map(repr, pad.prompt(TASKS[name], x))))
    assert not every(browser, "button")[0].is_displayed()  # random tokens are no input
    for _ in range(pad.steps(x)):
        every(browser, "button")[1].click()
    decoded = chomsky_scratchpad(name, 4).generate(pad.prompt(TASKS[name], x), pad.steps(x))
    assert pad.answer(x, decoded) == TASKS[name].answer(x)
    written = "".join(repr(each).replace(" ", "") + " " for each in decoded).split()
    assert line.get_attribute("value").split()[len(x) + 1 :] == written


@pytest.mark.parametrize("width", [360, 1280])
def test_programs_fit_a_window(opened, page, width):
    browser = opened(page)
    browser.set_window_size(width, 900)
    programs, _ = every(browser, "select")
    for name in ("sort", "detect_pattern", "induction"):
        chosen(programs, name)
        wide = "return [document.documentElement.scrollWidth, window.innerWidth]"
        needed, given = browser.execute_script(wide)
        assert needed <= given
