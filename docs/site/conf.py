"""The site: `make docs`.  All its sources are put into one folder first: the pages of statements,
those of `docs/`, and the examples."""

import json
import os
import re
import shutil
from pathlib import Path

from verify.site.conf import *  # noqa: F403
from verify.site.conf import extensions, suppress_warnings
from verify.site.pages import newton_page, put, write

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BUILD = ROOT / "docs" / "_build"
SOURCE, EXAMPLES = BUILD / "source", BUILD / "examples"
ELSEWHERE = {"induction_in_lens.py"}  # needs packages that the site does not
LISTED = "theorems.md"  # the list of statements, which the site has as pages

os.environ["COLUMNS"] = "100"
extensions += ["sphinx_gallery.gen_gallery"]
suppress_warnings += ["myst.xref_missing", "config.cache"]


def drawn(block, variables, configuration):
    """The pictures that an example has drawn into files, each as wide as the page."""
    from sphinx_gallery.scrapers import figure_rst

    shown = []
    for picture in sorted(EXAMPLES.rglob("*.png")):
        place = variables["image_path_iterator"].next()
        shutil.move(picture, place)
        shown.append(figure_rst([place], configuration["src_dir"]))
    return "\n".join(shown)


def told(text):
    """A page of `docs/` as the site has it: examples and the list of statements are pages of its
    own, and other files of the repository are named and not linked to."""
    text = text.replace(f"]({LISTED})", "](statements/index.md)")
    text = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", text)
    return re.sub(r"\[([^][]+)\]\(\.\./([^)]+)\)", r"\1 (`\2`)", text)


def copied():
    """The examples, each with its first line as the headline of its page."""
    (EXAMPLES / "data").mkdir(parents=True, exist_ok=True)
    for table in (ROOT / "examples" / "data").glob("*.csv"):
        shutil.copy(table, EXAMPLES / "data")
    for example in sorted((ROOT / "examples").glob("*.py")):
        if example.name in ELSEWHERE:
            continue
        first, rest = example.read_text(encoding="utf-8").split("\n", 1)
        title = first.removeprefix('"""').removesuffix('"""').removesuffix(".")
        closed = '"""' * first.endswith('"""')
        text = f'r"""\n{title}\n{"=" * len(title)}\n{closed}\n{rest}'
        place = EXAMPLES / example.name
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
    (EXAMPLES / "GALLERY_HEADER.rst").write_text("Examples\n========\n", encoding="utf-8")


sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": (drawn,),
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # a page whose table comes from elsewhere
    "abort_on_example_error": True,
    "plot_gallery": True,
    "reset_modules_order": "after",
}

copied()
for page in (HERE / "index.md", *(ROOT / "docs").glob("*.md")):
    if page.name != LISTED:
        put(SOURCE / page.name, told(page.read_text(encoding="utf-8")))
for picture in (ROOT / "docs").glob("*.png"):
    shutil.copy2(picture, SOURCE)
runs = BUILD / "runs.json"
write(SOURCE, json.loads(runs.read_text(encoding="utf-8"))["claims"] if runs.exists() else [])
put(SOURCE / "newton.md", newton_page())
