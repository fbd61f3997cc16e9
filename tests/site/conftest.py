"""Pages of the site, where the packages that it needs are installed."""

import shutil
from pathlib import Path

import pytest

import verify.site

STATIC = Path(verify.site.__file__).with_name("static")
PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>{css}</style><body data-theme="{theme}">{body}
<script>{model}</script><script>{view}</script><script>{programs}</script><script>{newton}</script>
<script>{search}</script>"""


@pytest.fixture
def pages():
    for package in ("pybtex", "latex2mathml"):
        pytest.importorskip(package, reason="needs the extra [site]")
    from verify.site import pages

    return pages


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("selenium", reason="needs the extra [docs]")
    from selenium import webdriver

    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in paths:
        pytest.skip("needs chromium and chromedriver on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = paths[0]
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    driver = webdriver.Chrome(options, webdriver.ChromeService(paths[1]))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    def opened(body, theme="light"):
        files = {"css": "site.css", "model": "model.js", "view": "view.js", "newton": "newton.js"}
        files |= {"programs": "programs.js", "search": "search.js"}
        parts = {name: (STATIC / file).read_text("utf-8") for name, file in files.items()}
        page = tmp_path / "page.html"
        page.write_text(PAGE.format(theme=theme, body=body, **parts), encoding="utf-8")
        browser.get(page.as_uri())
        return browser

    return opened
