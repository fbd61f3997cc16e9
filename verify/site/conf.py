"""The configuration of Sphinx for pages of `verify.site`, which need no network."""

from importlib.metadata import version as of_package
from pathlib import Path

project = "weightwright"
copyright = "the weightwright authors"
release = of_package("weightwright")
extensions = ["myst_parser"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = f"weightwright {release}"
html_static_path = [str(Path(__file__).with_name("static"))]
html_css_files = ["site.css"]
html_js_files = ["model.js", "view.js", "programs.js", "newton.js", "search.js"]
html_copy_source = False
html_show_sourcelink = False
exclude_patterns = ["_build", "doctrees"]
