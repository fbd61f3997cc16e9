"""The notebooks of the gallery run as they are downloaded, in any folder."""

import argparse
import ast
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CONF = ast.parse((ROOT / "docs" / "site" / "conf.py").read_text(encoding="utf-8"))


def first_cell():
    """The cell that the site puts before the cells of an example."""
    values = {
        each.targets[0].id: each.value
        for each in CONF.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    gallery = values["sphinx_gallery_conf"]
    keys = [key.value for key in gallery.keys]
    assert gallery.values[keys.index("first_notebook_cell")].id == "FIRST_CELL"
    return ast.literal_eval(values["FIRST_CELL"])


def test_the_first_cell_removes_the_arguments_of_jupyter(monkeypatch):
    parser = argparse.ArgumentParser()
    parser.add_argument("picture", nargs="?", default="it.png")
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "/run/kernel-1.json"])
    with pytest.raises(SystemExit):
        parser.parse_args()
    exec(first_cell(), {})
    assert parser.parse_args().picture == "it.png"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_does_not_depend_on_its_own_place(path):
    """A notebook has no file, and is in a folder without our data and without other examples."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "__file__" not in names
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
    modules = {alias.name for each in imports for alias in each.names if type(each) is ast.Import}
    modules |= {str(each.module) for each in imports if isinstance(each, ast.ImportFrom)}
    assert not modules & {example.stem for example in EXAMPLES}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "argv" not in attributes


@pytest.mark.slow
def test_the_digits_are_found_in_any_folder(tmp_path, monkeypatch, capsys):
    code = (ROOT / "examples" / "recall_digits.py").read_text(encoding="utf-8")
    (tmp_path / "downloaded.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [""])
    runpy.run_path("downloaded.py", run_name="__main__")
    assert (tmp_path / "recall_digits.png").exists()
    assert "100%" in capsys.readouterr().out
