"""The search over statements in Chromium: words, topic, kind and status.

Skipped where Chromium or selenium is not installed.
"""

import json

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SEARCHED = [
    {"name": "one", "topic": "graphs", "kind": "theorem", "standing": "new", "hypotheses": "A ≥ 0"},
    {"name": "two", "topic": "graphs", "kind": "bound", "standing": "known", "hypotheses": "none"},
    {"name": "three", "topic": "memory", "kind": "bound", "standing": "new", "hypotheses": "a ≥ 0"},
]


def test_statements_are_found_by_words_topic_kind_and_status(opened):
    data = json.dumps([{**entry, "statement": "For all n."} for entry in SEARCHED])
    body = f'<div class="ww-search"><script type="application/json">{data}</script></div>'
    browser = opened(body)
    line, topic, kind, status = browser.find_elements(
        "css selector", ".ww-controls input, .ww-controls select"
    )

    def found():
        count = browser.find_element("css selector", ".ww-count").text
        names = [link.text for link in browser.find_elements("css selector", ".ww-found a")]
        return count, names

    assert found() == ("3 of 3 statements", [])
    line.send_keys("A ≥ 0")
    assert found() == ("2 of 3 statements", ["one", "three"])
    kind.send_keys("bound")
    assert found() == ("1 of 3 statements", ["three"])
    line.clear()
    line.send_keys("nothing like it")
    assert found() == ("0 of 3 statements", [])
    line.clear()
    line.send_keys("all")
    topic.send_keys("graphs")
    assert found() == ("1 of 3 statements", ["two"])
    status.send_keys("known")
    assert found() == ("1 of 3 statements", ["two"])
    assert (
        browser.find_element("css selector", ".ww-found a")
        .get_attribute("href")
        .endswith("statements/two.html")
    )
