"""README and docs: examples print what they say, commands are the project's own, links lead on."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest
from readme import EXAMPLE, PAGES, README, ROOT, commands, examples, fences

from verify.ledger.theorems import ledger
from verify.ledger.written import in_markdown

NEEDS_LENS = {"ground-truth-0"}  # which `make tools` runs


@pytest.mark.parametrize("name", examples())
def test_the_python_examples_print_what_is_shown(name, tmp_path, monkeypatch, capsys):
    if name in NEEDS_LENS:
        pytest.importorskip("transformer_lens", reason="needs the extra [lens]")
    code, printed = examples()[name]
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out == printed


def test_all_pages_with_examples_are_read():
    assert {name.rsplit("-", 1)[0] for name in examples()} == {
        "README",
        "computation",
        "constructions",
        "ground-truth",
        "own-theorem",
        "programs",
        "stock",
        "trained",
        "tutorial",
        "what-a-model-computes",
    }


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 140


def test_the_readme_has_every_topic():
    rows = re.findall(
        r"^\| (\w+) \| .*\(docs/theorems.md#(\w+)\) \|$", README.read_text("utf-8"), re.M
    )
    topics = list(dict.fromkeys(entry.topic for entry in ledger().values()))
    assert rows == [(topic, topic) for topic in topics]


def test_the_list_of_statements_is_the_ledger():
    assert (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8") == in_markdown()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.slow
def test_the_commands_on_texts_and_files_run(tmp_path, monkeypatch, capsys):
    from verify.cli.main import main

    page = ROOT / "docs" / "computation.md"
    files = zip(("automaton", "machine", "edges", "table"), fences(page, "json"), strict=True)
    for name, content in files:
        (tmp_path / f"{name}.json").write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    lines = [line for block in fences(page, "sh") for line in block.splitlines()]
    found = {line: main(shlex.split(line)[3:]) for line in lines}
    assert found == dict.fromkeys(lines, 0)
    assert len(lines) == 9


def test_the_examples_are_those_that_the_site_runs():
    named = [line.removeprefix(EXAMPLE) for line in commands() if line.startswith(EXAMPLE)]
    there = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert named
    assert {*named} <= there - {
        "induction_in_lens.py",
        "ground_truth.py",
    }  # which `make tools` runs


@pytest.mark.parametrize("command", commands())
def test_commands_are_the_projects_own(command):
    checkers = ("verify/checker.py ", "verify/formula_checker.py ")
    own = ("-m verify ", "-m constructions.trained ", *checkers, "examples/")
    assert command.startswith(tuple(f"python {script}" for script in own))


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    minor = ".".join(version.split(".")[:2])
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version = {{{version}}}" in README.read_text(encoding="utf-8")
    assert f"\n## {version} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for page in ("docs/stability.md", "examples/package/pyproject.toml"):
        assert f"weightwright>={minor},<0.{int(minor[2:]) + 1}" in (ROOT / page).read_text("utf-8")
