"""The site: `make docs`.  All its sources are put into one folder first: the pages of statements,
those of `docs/`, and the examples."""

import json
import os
import re
import shutil
from pathlib import Path

import matplotlib.pyplot as plt

from constructions import induction_heads
from verify.site import api
from verify.site.conf import *  # noqa: F403
from verify.site.conf import extensions, suppress_warnings
from verify.site.front import front_page
from verify.site.pages import keep, newton_page, pages, write
from verify.site.programs import with_programs

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BUILD = ROOT / "docs" / "_build"
SOURCE, EXAMPLES = BUILD / "source", BUILD / "examples"
ELSEWHERE = {"induction_in_lens.py", "ground_truth.py"}  # needs packages that the site does not
AS_PAGES = {"theorems.md", "README.md"}  # statements; contents

os.environ["COLUMNS"] = "100"
extensions += ["sphinx_gallery.gen_gallery", "verify.site.api"]
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
    text = re.sub(r"\]\(theorems\.md#([\w-]+)\)", r"](statements/\1.md)", text)
    text = text.replace("](theorems.md)", "](statements/index.md)")
    text = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", text)
    return re.sub(r"\[([^][]+)\]\(\.\./([^)]+)\)", r"\1 (`\2`)", text)


def copied():
    """The examples, each with its first line as the headline of its page; their names."""
    made = {}
    for example in sorted((ROOT / "examples").glob("*.py")):
        if example.name in ELSEWHERE:
            continue
        first, rest = example.read_text(encoding="utf-8").split("\n", 1)
        title = first.removeprefix('"""').removesuffix('"""').removesuffix(".")
        closed = '"""' * first.endswith('"""')
        made[example.name] = f'r"""\n{title}\n{"=" * len(title)}\n{closed}\n{rest}'
    write(EXAMPLES, {"GALLERY_HEADER.rst": "Examples\n========\n", **made})
    keep(EXAMPLES, made, ".py")
    return [name.removesuffix(".py") for name in made]


autodoc_default_options = api.OPTIONS
toc_object_entries = False  # every page has the whole list of contents
python_maximum_signature_line_length = 90
THUMBNAIL = BUILD / "thumbnail.png"
FIRST_CELL = """\
# Jupyter has arguments of its own, which are none of the example.
import sys

sys.argv = [""]
"""
sphinx_gallery_conf = {
    "first_notebook_cell": FIRST_CELL,
    "default_thumb_file": str(THUMBNAIL),
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


def looked(file):
    """A picture for examples that draw none: where an induction head looks in a text that repeats,
    to the token before, and to what came after this token the last time."""
    model, tokens = induction_heads(8, 24), 3 * [3, 1, 4, 0, 5, 2, 6, 7]
    figure, axes = plt.subplots(1, 2, figsize=(4, 2.8), layout="constrained")
    for ax, block, H in zip(axes, model.blocks, model.streams(tokens), strict=False):
        ax.imshow(block.attn.pattern(H, 0)[0], cmap="Blues", vmax=1.2)
        ax.set_xticks([])
        ax.set_yticks([])
    figure.savefig(file, dpi=100)
    plt.close(figure)


def folded(app, pagename, templatename, context, doctree):
    """The list of contents is open at the page that has it: to write it whole on each page would
    take as long as all the rest."""
    whole = context["toctree"]
    context["toctree"] = lambda **options: whole(**{**options, "collapse": True})


def setup(app):
    app.connect("html-page-context", folded, priority=400)  # before the theme reads it


looked(THUMBNAIL)
runs = BUILD / "runs.json"
made = {
    page.name: told(page.read_text(encoding="utf-8"))
    for page in (HERE / "index.md", *(ROOT / "docs").glob("*.md"))
    if page.name not in AS_PAGES
}
made |= pages(json.loads(runs.read_text(encoding="utf-8"))["claims"] if runs.exists() else [])
made |= {f"api/{place}": text for place, text in api.pages(ROOT / "examples" / "package").items()}
made["newton.md"] = newton_page()
made["programs.md"] = with_programs(made["programs.md"])
drawings = {picture.name: picture for picture in (BUILD / "pictures").glob("*-0.png")}
made["index.md"] = front_page(made["index.md"], drawings)
write(SOURCE, made)
for picture in (ROOT / "docs").glob("*.png"):
    shutil.copy2(picture, SOURCE)
# The pictures on the cards of the front page.
html_extra_path = [str(BUILD / "extra")]
shutil.rmtree(BUILD / "extra", ignore_errors=True)
(BUILD / "extra" / "pictures").mkdir(parents=True)
for name, picture in drawings.items():
    if f'"pictures/{name}"' in made["index.md"]:
        shutil.copy2(picture, BUILD / "extra" / "pictures")
# What an earlier run has left of pages that are no more.
places = {*made, *(f"gallery/{name}.rst" for name in [*copied(), "index"])}
keep(SOURCE, places, ".md", ".rst")
sites = {str(Path(place).with_suffix(".html")) for place in places}
keep(BUILD / "html", sites | {"genindex.html", "py-modindex.html", "search.html"}, ".html")
