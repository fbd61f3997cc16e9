"""The front page has a card for each topic and all statements to search in."""

import html
import json
import re

from verify.ledger.theorems import TOPICS, ledger, theorem


def front(pages, pictures):
    from verify.site.front import front_page

    return front_page(
        "# Title\n\nNEWTON\n\nCARDS\n\nSEARCH\n\nNEWTON stays in a sentence.\n", pictures
    )


def test_each_topic_has_a_card_and_pictures_only_where_there_are_some(pages):
    from verify.site.front import CARDS

    assert [theorem(name).topic for name in CARDS] == list(TOPICS)
    text = front(pages, {"newton-0.png"})
    assert re.findall(r'<img src="([^"]+)"', text) == ["pictures/newton-0.png"]
    for name in CARDS:
        assert f'href="statements/{name}.html"' in text
        assert f"<span>{html.escape(theorem(name).statement)}</span>" in text
    assert "<img" not in front(pages, {})


def test_all_statements_can_be_searched(pages):
    text = front(pages, {})
    (data,) = re.findall(r'ww-search"><script type="application/json">(.*?)</script>', text)
    assert "<" not in data  # which could end the script
    entries = {entry["name"]: entry for entry in json.loads(data)}
    assert [*entries] == [*ledger()]
    assert entries["newton"]["hypotheses"] == theorem("newton").hypotheses
    assert entries["layers-improve"]["standing"] == theorem("layers-improve").standing


def test_only_whole_lines_are_replaced(pages):
    text = front(pages, {})
    assert text.startswith('# Title\n\n<div class="ww-newton">')
    assert "NEWTON stays in a sentence." in text
    assert "\nCARDS\n" not in text
