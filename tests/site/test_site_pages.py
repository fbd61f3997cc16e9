"""The text of pages, and reports of one's own runs."""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path

import pytest
from refusals import check_line, rejects

import verify.site
from verify.cli.main import main
from verify.ledger.theorems import entries, ledger, theorem
from verify.site.build import report, runs_in

RUN = {
    "schema": 2,
    "claim": "induction",
    "statement": "Two layers.",
    "parameters": {"seed": 0},
    "verdict": "holds",
    "environment": {"python": "3"},
    "findings": [
        {
            "id": "answers",
            "name": "answers <all>",
            "evidence": "exact",
            "measured": 0,
            "bound": 0,
            "verdict": "holds",
            "words": "",
            "wanted": "",
        }
    ],
}


def test_a_page_has_statement_model_proof_definition_and_evidence(pages):
    entry = theorem("induction")
    text = pages.page(entry, [RUN], {"V": 2, "n": 4})
    for part in ("## The model", "### Run it", "## Proof", "## Definition", "## Evidence"):
        assert part in text
    assert "induction_heads(vocabulary_size=2, max_length=4" in text
    assert "[Olsson2022](../references.md#olsson2022)" in text
    assert 'class="ww-holds">holds</td><td>exact</td><td>answers &lt;all&gt;' in text
    assert text.count("ww-drawn") == 1


def test_a_page_has_the_formulas_of_a_model_that_has_some(pages):
    text = pages.page(theorem("gradient-descent"), [], {"d": 4, "k": 2})
    assert "e = y − xᵀ (½ − 1/16 S) b" in text
    assert "e = y − xᵀ" in text
    assert "### Its formulas" not in pages.page(theorem("gradient-descent-causal"), [], {})


def test_a_statement_of_another_package_has_a_page(pages, monkeypatch):
    package = Path(__file__).parent.parent.parent / "examples" / "package"
    monkeypatch.syspath_prepend(str(package))
    text = (package / "mean_label" / "theorems.toml").read_text(encoding="utf-8")
    page = pages.page(entries(text, "mean_label")["mean-label"], [], {})
    assert "from mean_label import mean_of_labels" in page
    assert "mean_label/weights.py" in page


def test_the_runs_beside_a_statement_have_its_options(pages):
    def run(**options):
        given = {"k": 3, "start": "gram", "interleaved": False, "layout": "all"} | options
        return {**RUN, "claim": "newton", "parameters": given}

    plain, other, direct = run(), run(k=5), run(layout="direct")
    own = run(start="identity", interleaved=True)
    entry, paper = theorem("newton-interleaved-identity"), theorem("newton")
    assert pages.runs_of(entry, [plain, own]) == [own]
    assert pages.runs_of(entry, [plain]) == []
    assert pages.runs_of(paper, [own, plain, direct, other]) == [plain, other]
    assert "another statement" not in pages.page(paper, [plain, other], {})
    assert pages.page(paper, [plain, other], {}).count("newton **holds**, run with") == 2
    (ran,) = pages.runs_of(paper, [direct])
    assert "With layout direct this run is for another statement" in pages.page(paper, [ran], {})


def test_what_does_not_hold_is_shown_with_its_detail(pages):
    row = RUN["findings"][0] | {"verdict": "undecided", "detail": "at x < 1\n\nrepeat"}
    run = {**RUN, "verdict": "undecided", "findings": [row], "parameters": {"quick": True}}
    text = pages.page(theorem("induction"), [run], {"V": 2, "n": 4})
    assert "induction **undecided**, run with quick True." in text
    assert '<td class="ww-undecided">undecided</td>' in text
    assert "<td>answers &lt;all&gt;<br>at x &lt; 1<br>repeat</td>" in text


def test_findings_of_a_replication_on_record_are_named(pages):
    entry = next(entry for entry in ledger().values() if entry.found)
    run = {**RUN, "claim": entry.claim}
    id, verdict = next(iter(entry.found.items()))
    assert f"Recorded verdicts: `{id}` {verdict}" in pages.page(entry, [run], {})


def test_sizes_are_formulas_and_what_they_do_not_say(pages):
    text = pages.page(theorem("hop"), [], {"k": 1, "V": 3, "n": 9})
    assert "| layers | heads | width |" in text
    shown = html.unescape(re.sub(r"<[^>]+>", "", text.partition("## The model")[0]))
    assert "| ⌊log2(k)⌋+2 | 1 | ⌈log2(V)⌉min(3,ones(k)+1)+8 |" in shown.replace("\u2061", "")
    assert "⌈log₂ 1⌉ counts as 1" in text
    assert "ones(k) is the number" in text


def test_text_is_shown_as_it_is(pages):
    from verify.site.prose import documented, escaped, mathematics

    assert escaped("a_b * `c_d` <e> of [Fu2024, Theorem 5.1]") == (
        r"a\_b \* `c_d` \<e\> of \[[Fu2024](references.md#fu2024), Theorem 5.1\]"
    )
    assert documented("One.  Two.\n\n    H = 1\n") == "One.  Two.\n\n```text\n    H = 1\n```"
    assert documented("| a |\n| b |") == "```text\n| a |\n| b |\n```"
    assert documented("One of:\n  a\n  b\nand more:\n    c  d\nand:\n") == (
        "One of:\n\n```text\n  a\n  b\n```\n\nand more:\n\n```text\n    c  d\n```\n\nand:"
    )
    for text in ("a   b:\n  c\nd   e", "hangs here\n    and goes on: so\n    it is"):
        assert documented(text) == f"```text\n{text}\n```"
    assert "<msup>" in mathematics("2^k")


def test_stressed_words_are_stressed_and_powers_are_not(pages):
    from verify.site.prose import escaped

    assert escaped("*one* of **two\nlines**: 2**L, a*b*c, *, +") == (
        r"*one* of **two" "\n" r"lines**: 2\*\*L, a\*b\*c, \*, +"
    )
    assert escaped("*as in Olsson2022*", "../") == (
        "*as in [Olsson2022](../references.md#olsson2022)*"
    )


def test_titles_stand_as_they_were_printed(pages):
    from verify.site.prose import references

    assert "Rado's Noncomputable Function <math" in references()["Brady1983"]
    assert "&#x003A3;" in references()["Brady1983"]  # Σ, not σ
    assert not [key for key, text in references().items() if "$" in text]


def test_all_statements_are_on_one_page_once(pages):
    text = pages.index_page([*ledger().values()])
    for name in ledger():
        assert text.count(f"[{name}]({name}.md)") == 1


def test_every_theme_has_every_colour():
    css = Path(verify.site.__file__).with_name("static").joinpath("site.css").read_text("utf-8")
    given = [
        sorted(re.findall(r"(--ww-\w+):", block))
        for block in re.findall(r"{([^{}]*--ww-ink:[^{}]*)}", css)
    ]
    assert len(given) == 3
    assert given[0] == given[1] == given[2]
    assert set(re.findall(r"var\((--ww-\w+)\)", css)) <= {*given[0]}


def test_pages_link_to_where_their_names_are_described(pages):
    text = pages.page(theorem("induction"), [], {"V": 2, "n": 4})
    assert "## The model\n\n{py:obj}`constructions.retrieval.induction_heads`\n" in text
    assert "{py:obj}`~theory.retrieval.induction` of `theory/retrieval/induction.py`" in text


def test_pages_that_are_no_more_are_removed(pages, tmp_path):
    beside, folder = tmp_path / "a.md", tmp_path / "source"
    written = dict.fromkeys(["a.md", "b/old.md", "b/new.md", "b/d.rst", "b/d.png", "_own/e.md"], "")
    pages.write(tmp_path, {"a.md": ""})
    pages.write(folder, written)
    (folder / "b" / "linked").symlink_to(tmp_path)
    pages.keep(folder, ["a.md", "b/new.md"], ".md", ".rst")
    files = (each for each in folder.rglob("*") if each.is_file())
    left = {each.relative_to(folder).as_posix() for each in files}
    assert {*written} - left == {"b/old.md", "b/d.rst"}
    assert beside.exists()
    pages.keep(tmp_path / "none", [], ".md")


@pytest.mark.slow
def test_every_statement_has_a_page(pages):
    assert {f"statements/{name}.md" for name in ledger()} <= pages.pages([RUN]).keys()


def test_options_of_a_run_are_parameters_of_the_model(pages):
    options = {"k": 2, "vocabulary_size": 3, "max_length": 9, "samples": 5}
    found = pages.parameters(theorem("hop"), {"parameters": options})
    assert found == {"k": 2, "V": 3, "n": 9}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Sphinx's own
def test_a_report_is_written_from_a_run(pages, tmp_path, capsys):
    pytest.importorskip("sphinx", reason="needs the extra [site]")
    file, out = tmp_path / "run.json", tmp_path / "out"
    assert main(["hop", "--k", "2", "--quiet", "--json", str(file)]) == 0
    assert main(["report", str(file), "--out", str(out)]) == 0
    assert "hop(k=2, " in (out / "statements" / "hop.html").read_text(encoding="utf-8")
    first = (out / "index.html").read_text(encoding="utf-8")
    assert 'href="statements/hop.html"><span class="std std-doc">hop</span></a>: holds' in first
    assert "references.html#" not in first
    assert main(["report", str(file), "--out", str(out)]) == 2
    check_line(capsys.readouterr().err, str(out))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "3",
        '{"claims": [3]}',
        '{"claims": []}',
        '{"claims": {"a": 1}}',
        "{",
        "[" * 10**5,
    ],
)
def test_what_holds_no_runs_is_refused(tmp_path, content):
    file = tmp_path / "run.json"
    file.write_text(content)
    with rejects(str(file)):
        runs_in(file)


@pytest.mark.parametrize(
    "change",
    [{"claim": 3}, {"parameters": []}, {"verdict": "fails"}, {"verdict": "maybe"},
     {"statement": None}, {"statement": "\ud800"}, {"environment": 3}, {"findings": {}},
     {"findings": [{}]}, {"findings": [{**RUN["findings"][0], "verdict": "<b>"}]}, {"schema": "2"}],
)  # fmt: skip
def test_a_run_that_was_changed_is_none(tmp_path, change):
    file = tmp_path / "run.json"
    file.write_text(json.dumps({**RUN, **change}))
    with rejects(str(file)):
        runs_in(file)


@pytest.mark.parametrize("schema", [1, 3])
def test_runs_of_another_schema_are_refused(tmp_path, schema):
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"claims": [RUN, {**RUN, "schema": schema}]}))
    with rejects("schema", str(schema)):
        runs_in(file)


def test_a_run_that_no_page_would_show_is_refused(pages, tmp_path):
    pytest.importorskip("sphinx", reason="needs the extra [site]")
    file = tmp_path / "run.json"
    given = {"k": 3, "start": "gram", "interleaved": False, "layout": "all"}
    runs = [
        {**RUN, "claim": "newton", "parameters": given | {"layout": layout}}
        for layout in ("all", "none")
    ]
    file.write_text(json.dumps({"claims": runs}))
    with rejects("newton"):
        report([file], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_and_folders_that_are_not_there_are_refused(tmp_path):
    with rejects(str(tmp_path / "none.json")):
        report([tmp_path / "none.json"], tmp_path / "out")
    file = tmp_path / "run.json"
    file.write_text(json.dumps({**RUN, "claim": "not-of-the-ledger"}))
    with rejects("statement"):
        report([file], tmp_path / "out")


def test_the_extra_is_named_where_it_is_missing(tmp_path, monkeypatch):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(RUN))
    monkeypatch.setitem(sys.modules, "sphinx", None)
    monkeypatch.setitem(sys.modules, "sphinx.cmd.build", None)
    with rejects("weightwright[site]"):
        report([file], tmp_path / "out")
