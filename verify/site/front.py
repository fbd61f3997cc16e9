"""The front page: a running model, a card for each topic, and a search over all statements."""

from __future__ import annotations

import html
import json
from collections.abc import Container

from verify.ledger.theorems import Theorem, ledger, theorem
from verify.site.pages import newton_model

# The statement on the card of each topic; the picture above it is that of its claim.
CARDS = (
    "newton-direct",
    "induction",
    "clustering",
    "shortcut",
    "reach-of-weights-at-least-0",
    "adder",
    "retrieval-profiles",
    "string-model",
    "uniform-binary-search",
    "programs",
    "stock",
)
SEARCHED = "name", "topic", "kind", "standing", "statement", "hypotheses", "source"


def front_page(template: str, pictures: Container[str]) -> str:
    """Returns the front page: `template`, in which the lines NEWTON, CARDS and SEARCH are replaced.

    `pictures` contains the names of the files in the site's folder `pictures`.
    """
    cards = "".join(_card(theorem(name), pictures) for name in CARDS)
    entries = [{key: getattr(entry, key) for key in SEARCHED} for entry in ledger().values()]
    data = json.dumps(entries, ensure_ascii=False).replace("<", "\\u003c")
    parts = {
        "NEWTON": newton_model(),
        "CARDS": f'<div class="ww-cards">{cards}</div>',
        "SEARCH": f'<div class="ww-search"><script type="application/json">{data}</script></div>',
    }
    return "\n".join(parts.get(line, line) for line in template.split("\n"))


def _card(entry: Theorem, pictures: Container[str]) -> str:
    """A link to a statement: topic, name, the first sentences, and a picture if there is one."""
    file = f"{entry.claim}-0.png"
    picture = f'<img src="pictures/{file}" alt="" loading="lazy">' if file in pictures else ""
    return (
        f'<a class="ww-card" href="statements/{entry.name}.html">{picture}'
        f"<strong>{entry.topic}</strong> <em>{entry.name}, {entry.standing}</em>"
        f"<span>{html.escape(entry.statement)}</span></a>"
    )
