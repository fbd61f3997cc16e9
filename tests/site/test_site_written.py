"""The parts of pages, which of them are written, and reports of runs."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from refusals import rejects
from test_site_pages import RUN

from verify.ledger.theorems import entries_of, theorem
from verify.site import build

SMALL = {"V": 2, "n": 4}
FINDING = RUN["findings"][0]


def bare(**more):
    """A statement without model and files, so that its page is written at once."""
    files = {"build": "", "weights": "", "theory": "", "machine_checked": ()}
    return replace(theorem("induction"), **{**files, "sizes": {}, **more})


def test_parts_of_a_page(pages):
    entry = bare(open="whether *one* layer does, as [Olsson2022] has it")
    text = pages.page(entry, [RUN], {})
    cited = "[Olsson2022](../references.md#olsson2022)"
    assert f"Open: whether *one* layer does, as \\[{cited}\\]" in text
    assert f"\n\nSource: \\[{cited}" in text
    assert "Computed by python 3." in text
    assert "\n\nTwo layers.\n\n" in text
    assert "Recorded verdicts" not in text
    assert "\n\n*Hypotheses.* A BOS token" in text
    assert text.endswith(f"## In the source\n\nproof `{entry.proof}`, test `{entry.test}`.\n")
    assert "Open:" not in pages.page(bare(), [RUN], {})
    checked = bare(machine_checked=("file.v:theorem",), machine_checked_part="The *first* half.")
    text = pages.page(checked, [RUN], {})
    assert "\n\nMachine-checked in part: The *first* half." in text
    assert text.endswith(", machine-checked `file.v:theorem`.\n")
    assert "Recorded verdicts" not in pages.page(bare(found={"answers": "fails"}), [], {})


def test_what_stands_beside_the_weights_is_a_proof_if_a_model_is_built(pages):
    file = theorem("induction").weights
    said = list(pages._weights(replace(bare(), weights=file, build="it()")))
    assert said[0].startswith("## Proof, beside the weights\n\n")
    assert said[1].startswith(f"<details><summary>{file.partition(':')[0]}</summary>")
    (beside, _) = pages._weights(replace(bare(), weights=file))
    assert beside.startswith("## Beside the weights\n\n")


def test_a_definition_is_that_of_the_function_that_is_named(pages):
    file = "theory/retrieval/hop.py"
    (said,) = pages._definition(f"{file}:hop")
    link = "{py:obj}`~theory.retrieval.hop`"
    assert said.startswith(f"## Definition\n\n{link} of `{file}`:\n\n")
    assert list(pages._definition(f"{file}:no_such")) == []
    with rejects("no_such/file.py"):
        list(pages._definition("no_such/file.py:it"))


def test_words_of_a_finding_stand_before_its_numbers(pages):
    numbers = pages._row({**FINDING, "measured": 3, "bound": 4})
    assert numbers.endswith("<td>3</td><td>4</td></tr>")
    words = pages._row({**FINDING, "words": "three", "wanted": "four"})
    assert words.endswith("<td>three</td><td>four</td></tr>")


@pytest.mark.parametrize("more", [0, 1])
def test_many_findings_are_folded(more, pages):
    many = [FINDING] * (pages.FOLDED + more)
    text = pages.page(bare(), [{**RUN, "findings": many}], {})
    assert text.count('<tr><td class="ww-holds">') == len(many)
    assert (f"<details><summary>{len(many)} findings" in text) == bool(more)


def test_models_are_drawn_unless_they_are_too_large_and_run_if_over_tokens(pages, monkeypatch):
    entry = theorem("induction")
    model, values = pages.model_of(entry, SMALL)
    imports, *_, run, drawn, _, _ = pages._model(entry, model, values)
    assert imports == "## The model\n\n{py:obj}`constructions.retrieval.induction_heads`"
    assert run == "### Run it"
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', drawn)
    assert json.loads(data) == pages.exported(model)
    monkeypatch.setattr(pages, "exported", lambda model: {"name": "</script><b>"})
    monkeypatch.setattr(pages, "runs", lambda model: False)
    *_, run, drawn, _, _ = pages._model(entry, model, values)
    assert run == ""
    assert drawn.count("</script>") == drawn.count("</") - 1 == 1
    weights = pages.weights(model)
    monkeypatch.setattr(pages, "DRAWN", weights)
    parts = [*pages._model(entry, model, values)]
    assert len(parts) == 7
    assert parts[2] == pages.shown_circuit(model)
    assert "previous" in parts[2]
    monkeypatch.setattr(pages, "DRAWN", weights - 1)
    *_, said = pages._model(entry, model, values)
    assert len([*pages._model(entry, model, values)]) == 4
    assert f"{weights} non-zero weights" in said


def below(text):
    """The pages below a page."""
    (listed,) = re.findall(r"```{toctree}\n:hidden:\n\n(.*?)\n```", text, flags=re.DOTALL)
    return listed.split("\n")


def test_pages_stand_below_those_that_list_them(pages):
    entries = [replace(bare(), name=name, topic=name[0]) for name in ("a-1", "b-1", "a-2")]
    assert below(pages.index_page(entries)) == ["topic-a", "topic-b"]
    text = pages.topic_page("a", [entries[0], entries[2]])
    assert below(text) == ["a-1", "a-2"]
    assert "| [a-2](a-2.md) | theorem | " in text


def test_every_source_has_its_place(pages):
    keys = re.findall(r"^## (\S+)$", pages.reference_page(), flags=re.MULTILINE)
    assert keys == sorted(pages.references())


def test_the_page_of_newton_has_the_models_of_all_its_steps(pages):
    (text,) = re.findall(r'json">(.*?)</script>', pages.newton_page())
    assert [len(model["blocks"]) for model in json.loads(text)] == [k + 1 for k in range(9)]


@pytest.fixture
def written(pages, tmp_path, monkeypatch):
    """Of which statements there are pages, with their runs and the parameters of models."""
    found = {}
    monkeypatch.setattr(pages, "page", lambda entry, *rest: found.update({entry.name: rest}) or "")

    def call(*words, **more):
        found.clear()
        pages.write(tmp_path, pages.pages(*words, **more))
        return dict(found)

    return call


def test_a_report_has_models_with_the_parameters_of_its_first_run(written, tmp_path):
    run = {**RUN, "parameters": {"vocabulary_size": 3, "max_length": True, "seed": 0}}
    later = {**RUN, "parameters": {"vocabulary_size": 4, "max_length": 5}}
    names = ["rates", "induction"]
    at = {"V": 3}  # the seed is not a parameter of the model, and a flag is not a number
    assert written([run, later], names, own=True) == {
        "induction": ([run, later], at), "rates": ([], {}),
    }  # fmt: skip
    assert written([run], names)["induction"] == ([run], {})
    index = (tmp_path / "statements" / "index.md").read_text(encoding="utf-8")
    assert below(index) == ["topic-regression", "topic-retrieval"]
    topic = (tmp_path / "statements" / "topic-retrieval.md").read_text(encoding="utf-8")
    assert below(topic) == ["induction"]


def test_what_has_not_changed_is_not_written_again(pages, tmp_path):
    file = tmp_path / "below" / "page.md"
    pages.write(tmp_path, {"below/page.md": "one"})
    before = file.stat()
    file.chmod(0o444)
    pages.write(tmp_path, {"below/page.md": "one"})
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    file.chmod(0o644)
    pages.write(tmp_path, {"below/page.md": "two"})
    assert file.read_text() == "two"


@pytest.fixture
def reported(pages, tmp_path, monkeypatch):
    """What a report gives to Sphinx of these runs; it makes no pages here."""
    pytest.importorskip("sphinx", reason="needs the extra [site]")
    given = {}

    def sphinx(words):
        *_, source, given["out"] = words
        place = build.Path(source)
        for file in place.rglob("*.md"):
            given[str(file.relative_to(place))] = file.read_text(encoding="utf-8")
        return given.get("code", 0)

    monkeypatch.setattr("sphinx.cmd.build.build_main", sphinx)
    monkeypatch.setattr(pages, "page", lambda entry, ran, at: f"{entry.name} {len(ran)} {at}")

    def report(*files, code=0):
        given.clear()
        given["code"] = code
        names = []
        for i, runs in enumerate(files):
            names.append(tmp_path / f"{i}.json")
            names[-1].write_text(json.dumps({"claims": runs}))
        return build.report(names, tmp_path / "a" / "b"), given

    return report


def test_a_report_is_of_all_runs_of_all_files(reported, tmp_path):
    run = {**RUN, "parameters": {"vocabulary_size": 2, "max_length": 4}}
    undecided = {**run, "verdict": "undecided", "findings": [{**FINDING, "verdict": "undecided"}]}
    first, given = reported([run, undecided], [{**RUN, "claim": "hop"}])
    assert first == tmp_path / "a" / "b" / "index.html"
    assert given["out"] == str(first.parent)
    assert "- [induction](statements/induction.md): holds, undecided\n" in given["index.md"]
    assert "- [hop](statements/hop.md): holds\n" in given["index.md"]
    assert given["statements/induction.md"] == f"induction 2 {SMALL}"
    shown = [entry.name for claim in ("induction", "hop") for entry in entries_of(claim)]
    statements = {file for file in given if file.startswith("statements/")}
    names = ["index", "topic-retrieval", *shown]
    assert statements == {f"statements/{name}.md" for name in names}


def test_runs_of_which_some_show_a_statement(reported):
    with rejects("none-of-ours"):
        reported([RUN, {**RUN, "claim": "none-of-ours"}])


def test_pages_that_cannot_be_built_are_no_report(reported):
    with rejects("pages"):
        reported([RUN], code=1)


def test_a_folder_that_is_not_empty_stays_as_it_is(reported, tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "mine.txt").touch()
    with rejects(str(tmp_path / "a" / "b")):
        reported([RUN])
    (tmp_path / "a" / "b" / "mine.txt").unlink()
    reported([RUN])


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(RUN))
    size = file.stat().st_size
    monkeypatch.setattr(build, "MOST_BYTES", size)
    assert build.runs_in(file) == [RUN]
    monkeypatch.setattr(build, "MOST_BYTES", size - 1)
    with rejects(str(size - 1)):
        build.runs_in(file)
