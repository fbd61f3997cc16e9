"""The report of a package of others: both wheels in a fresh environment, beside Sphinx."""

import html
import json
import re

import pytest
from fresh import called, environment


@pytest.mark.slow
def test_the_report_of_an_installed_package_has_its_statement(tmp_path):
    for package in ("sphinx", "myst_parser", "furo", "pybtex", "latex2mathml"):
        pytest.importorskip(package, reason="needs the extra [site]")
    python = environment(tmp_path)
    verify = (python, "-m", "verify")
    called(*verify, "mean-label", "--d", "2", "--json", "run.json", folder=tmp_path)
    said = called(*verify, "report", "run.json", "--out", "pages", folder=tmp_path)
    assert said == "written: pages/index.html\n"
    pages = tmp_path / "pages"
    first = (pages / "index.html").read_text(encoding="utf-8")
    assert re.search(r'href="statements/mean-label.html">.*mean-label.*</a>: holds', first)
    page = (pages / "statements" / "mean-label.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    run = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    for part in (
        "One head whose scores are all 0 outputs the mean of the labels.",
        "from mean_label import mean_of_labels",
        "d = 2\nmodel = mean_of_labels(d)",
        "mean_label/weights.py",
        "run with d 2",
        *(finding["name"] for finding in run["findings"]),
    ):
        assert part in text, part
    assert page.count('class="ww-holds"') == len(run["findings"]) > 0
    for name in ("model.js", "view.js", "site.css"):
        assert (pages / "_static" / name).stat().st_size > 0
