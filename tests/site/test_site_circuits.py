"""The circuit on the page of a statement."""

import re

from constructions import induction_heads, sphere_dynamics, tripling
from constructions.circuits import circuit
from verify.ledger.theorems import theorem
from verify.site.circuits import shown_circuit, table


def cells(text):
    """The marks by register and component."""
    plain = lambda part: re.sub("<[^>]*>", "", part)  # noqa: E731
    head, *rows = re.findall("<tr>(.*?)</tr>", text)
    names = [plain(each) for each in re.findall("<th>(.*?)</th>", head)][1:]
    found = {}
    for row in rows:
        register = plain(re.findall("<th>(.*?)</th>", row)[0])
        marks = [plain(each) for each in re.findall("(<td.*?</td>)", row)]
        found |= {(register, name): m for name, m in zip(names, marks, strict=True) if m}
    return found


def test_the_table_has_every_writer_and_reader():
    assert cells(table(circuit(induction_heads(3, 4)))) == {
        ("code", "embed"): "▸",
        ("code", "L1.H0"): "V",
        ("code", "L2.H0"): "QV",
        ("place", "pos"): "▸",
        ("place", "L1.H0"): "K",
        ("norm", "pos"): "▸",
        ("norm", "L1.H0"): "K",
        ("before", "pos"): "▸",
        ("before", "L1.H0"): "Q",
        ("rank", "pos"): "▸",
        ("rank", "L2.H0"): "K",
        ("previous", "L1.H0"): "▸",
        ("previous", "L2.H0"): "K",
        ("answer", "L2.H0"): "▸",
        ("answer", "unembed"): "out",
    }


def test_pages_of_models_over_tokens_have_it(pages):
    assert "### Its circuit" in pages.page(theorem("induction"), [], {"V": 2, "n": 4})
    assert "### Its circuit" not in pages.page(theorem("gradient-descent"), [], {"d": 2, "k": 1})


def test_large_and_normalised_models_have_no_table():
    assert shown_circuit(tripling(2, 1))
    assert shown_circuit(sphere_dynamics(2, 1.0, 0.5, 2)) == ""
