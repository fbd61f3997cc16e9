"""Pages of the site, where the packages that it needs are installed."""

import pytest


@pytest.fixture
def pages():
    for package in ("pybtex", "latex2mathml"):
        pytest.importorskip(package, reason="needs the extra [site]")
    from verify.site import pages

    return pages
