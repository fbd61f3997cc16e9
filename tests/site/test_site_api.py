"""The pages of what can be imported: every name, and docstrings as Sphinx reads them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def api():
    for package in ("pybtex", "latex2mathml"):
        pytest.importorskip(package, reason="needs the extra [site]")
    from verify.site import api

    return api


@pytest.fixture(scope="module")
def pages(api):
    return api.pages(ROOT / "examples" / "package")


@pytest.mark.parametrize(
    "room", ["constructions", "constructions.retrieval", "theory.computation", "verify.finding"]
)
def test_every_exported_name_is_described_once(pages, room):
    every = "\n".join(pages.values())
    for name in import_module(room).__all__:
        home = room
        if room == "constructions":  # that of a topic, where it is one's
            topic = getattr(import_module(room), name).__module__.split(".")[1]
            exports = getattr(import_module(f"constructions.{topic}"), "__all__", ())
            home = f"constructions.{topic}" if name in exports else room
        assert sum(every.count(f":: {home}.{name}{end}") for end in ("\n", " ")) == 1, name


def test_what_is_stable_is_described(pages):
    """What docs/stability.md names of claims, and what the template imports."""
    every = "\n".join(pages.values())
    for name in ("claim.Run", "claim.claim", "claim.option", "finding.Finding", "finding.Verdict"):
        assert f":: verify.{name}\n" in every
    for name in ("assembly.Head", "assembly.block", "examples.Examples", "stream.one"):
        assert f":: constructions.{name}\n" in pages["template.rst"]
    assert ":: verify.evidence.size.size\n" in pages["template.rst"]
    assert "constructions.Stream" not in pages["template.rst"]  # that has its place


def test_every_page_is_in_the_index(pages):
    for place in pages:
        name = place.partition(".rst")[0]
        assert place == "index.md" or f"- [{name}]({place})" in pages["index.md"]


def test_functions_that_make_findings_are_exported():
    from verify import finding

    made = {
        name
        for name, it in vars(finding).items()
        if getattr(it, "__annotations__", {}).get("return") in ("Finding", "Iterator[Finding]")
    }
    assert made | {"Finding", "Verdict"} == {*finding.__all__}


def test_values_are_shown_as_they_are_written(pages):
    text = pages["theory.computation.rst"]
    assert ".. py:data:: theory.computation.S3\n   :value: Semiautomaton((" in text
    assert ".. py:data:: theory.computation.MACHINES\n\n" in text  # that has many lines
    text = pages["theory.retrieval.rst"]
    assert "   :value: Literal['latest', 'first', 'mean']\n\n   \\ The match that" in text


def test_docstrings_are_read_as_they_are_meant(api):
    read = api.restructured
    assert read("a_b | *c* of `k`s, 2*3*4 by [Fu2024, 5.1]", {"k"}) == (
        r"\ a\_b \| \ *c*\  of \ ``k``\ s, 2\*3\*4 by "
        r"[\ `Fu2024 <../references.html#fu2024>`__\ , 5.1]"
    )
    assert read("As `find`, `x = 1`.") == r"\ As \ :py:obj:`find`\ , \ ``x = 1``\ ."
    assert read("- One.\n\n    H = *1*\n") == "\\ - One.\n\n.. code-block:: text\n\n   H = *1*"
    assert read("") == ""


def test_signatures_are_as_they_are_written(api):
    from constructions import Stage, Stream, Transformer
    from theory.computation import NotSolvable
    from theory.retrieval import find, induction
    from verify.finding import Verdict

    def signature(what, it):
        return api.signature(None, what, "", it)

    assert signature("function", find) == ("(tokens: Tokens)", "np.ndarray")
    assert signature("function", induction)[0] == (
        "(tokens: Tokens, match: Match='latest', no_match: NoMatch='bottom')"
    )
    assert signature("class", Stage) == ("(after, register, holds, times=1.0)", "")
    assert signature("class", Stream)[0].startswith("(**")
    assert signature("method", Transformer.logits) == ("(*inputs: Any)", "Tensor")
    assert signature("class", Verdict) == ("", "")
    assert signature("exception", NotSolvable) is None


def test_what_says_nothing_is_left_out(api):
    lines = ["Alias for field number 0"]
    api.docstring(None, "attribute", "", SimpleNamespace(), {}, lines)
    assert lines == ["", ""]
