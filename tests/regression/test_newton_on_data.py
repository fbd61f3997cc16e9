"""The claim `newton-on-data`: its findings on CSV files, and the files it writes."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from refusals import rejected, rejects

from constructions import newton
from theory.regression import newton as solve
from theory.regression import ols
from verify.claim import Run
from verify.finding import Verdict
from verify.regression import newton_on_data as module
from verify.regression.convergence import safe_alpha
from verify.regression.data import read_table
from verify.regression.newton_on_data import newton_on_data

LONGLEY = Path(__file__).parents[2] / "examples" / "data" / "longley.csv"


def read_examples(*given):
    return read_table(*given).examples


def rng(seed=0):
    return np.random.default_rng(seed)


def findings(data=LONGLEY, **options):
    return {f.id: f for f in newton_on_data.findings(Run(), data=data, **options)}


def failing(found):
    return [f.id for f in found.values() if f.verdict is not Verdict.HOLDS]


@pytest.fixture(scope="module")
def longley():
    return findings(target="employed", k=2, layout="direct")


def test_on_data_everything_holds_and_is_reported(longley):
    assert failing(longley) == []
    assert "3 held-out rows of longley.csv" in longley["direct/float"].name
    assert "13 rows of the data, k = 2" in longley["direct/on-data"].name
    evidence = [longley[f"direct/{id}"].evidence for id in ("float", "on-data", "registers")]
    assert evidence == ["float", "exact", "identity"]
    assert "κ(S) is 1.0" in longley["steps"].name
    assert 20 < longley["steps"].measured <= longley["steps"].bound <= 40
    assert longley["ols"].evidence == longley["converges"].evidence == "float"


def test_the_steps_to_ols_accuracy_are_the_least(longley):
    """Counted again with the recursion itself, in float64 on the same rows."""
    x, y, queries = read_examples(LONGLEY, "employed", rng())
    alpha, exact = safe_alpha(x, "gram"), queries @ ols(x, y)

    def distance(k):
        return float(np.abs(queries @ solve(x, y, k, alpha) - exact).max())

    needed = longley["steps"].measured
    assert distance(needed) <= 2e-6
    assert distance(needed - 1) > 1e-6


def test_from_the_identity_fewer_steps_are_enough(longley):
    found = findings(target="employed", start="identity", k=1, domain="float")
    assert failing(found) == []
    assert set(found) == {
        *(
            f"{layout}/{id}"
            for layout in ("direct", "ladder")
            for id in ("size", "float", "held-out", "steps")
        ),
        *("converges", "ols", "steps"),
    }
    assert found["steps"].measured < longley["steps"].measured


def test_the_other_domains_on_data():
    for domain, ids in (("exact", {"rational", "on-data"}), ("modular", {"modular"})):
        found = findings(domain=domain, layout="direct", k=1)
        assert failing(found) == []
        assert set(found) == {"steps", "direct/size", *(f"direct/{id}" for id in ids)}


@pytest.mark.parametrize("k", [1, 3])
def test_exact_steps_are_as_many_as_there_are_bits_for(k, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_EXACT", 1e5)
    found = findings(domain="exact", layout="direct", k=k)
    assert found["direct/on-data"].name.endswith(f"k = {min(k, 1)}")
    assert failing(found) == []


def test_more_rows_than_the_exact_domains_take(write, monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 4)
    text = "a,b\n" + "\n".join(f"{i},{i * i % 7}" for i in range(12))
    found = findings(write(text), layout="direct", k=1)
    assert failing(found) == []
    assert "4 rows of the data, k = 1" in found["direct/on-data"].name
    assert "(d=1, n=4, k=1" in found["direct/rational"].name
    assert "2 held-out rows of my.csv" in found["direct/float"].name


def test_an_alpha_too_large_fails_and_counts_no_steps():
    x = read_examples(LONGLEY, None, rng()).x
    largest = np.linalg.eigvalsh(x.T @ x)[-1]
    found = findings(alpha=float(2.01 / largest**2), k=1, layout="direct", domain="float")
    assert failing(found) == ["converges"]
    assert "steps" not in found


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5, 1.9])
@pytest.mark.parametrize("start", ["gram", "identity"])
def test_the_rate_counts_the_slowest_direction(factor, start, write):
    """Above 1/λmax² it may be the largest eigenvalue that is slowest."""
    points = np.random.default_rng(2).normal(size=(20, 2))
    text = "a,b,c\n" + "\n".join(f"{a},{b},{a + 2 * b}" for a, b in points.tolist())
    x = read_examples(write(text), None, rng()).x
    largest = np.linalg.eigvalsh(x.T @ x)[-1]
    alpha = float(factor / largest ** (2 if start == "gram" else 1))
    found = findings(write(text), alpha=alpha, start=start, k=1, layout="direct", domain="float")
    assert failing(found) == []
    assert found["steps"].measured <= found["steps"].bound


def test_data_whose_start_is_the_inverse_itself(write):
    """One feature and four rows: S = 4, α = 1/16, and M₀ = αS is 1/S."""
    found = findings(write("a,b\n1,2\n-1,-2\n1,2\n-1,-2\n1,2\n"), k=0, layout="direct")
    assert failing(found) == []
    assert found["steps"].measured == 0


def test_a_held_out_row_at_the_mean_of_the_others(write):
    """All predictions of the row are 0, so no step is needed; log(0) would be a warning."""
    found = findings(write("x,y\n1,2\n5,7\n3,3\n1,3\n5,6\n"), k=2, layout="direct")
    assert failing(found) == []
    assert found["steps"].measured == 0


@pytest.mark.parametrize("alpha", [1e-6, 1e-300])
def test_one_held_out_row_at_the_bound(alpha, write):
    """Its error differs from that of OLS by the whole prediction of OLS, up to rounding."""
    file = write("a,b\n1,2\n2,3\n4,7\n5,8\n6,1\n")
    found = findings(file, alpha=alpha, layout="direct", domain="float")["direct/held-out"]
    assert found.verdict is Verdict.HOLDS
    assert found.measured == pytest.approx(found.bound, rel=1e-6)


def test_more_columns_than_rows(tmp_path):
    table = np.random.default_rng(0).integers(-9, 10, (7, 9))
    lines = ["a,b,c,d,e,f,g,h,target", *(",".join(map(str, row)) for row in table.tolist())]
    file = tmp_path / "wide.csv"
    file.write_text("\n".join(lines))
    assert failing(findings(file, k=2, layout="direct", domain="float")) == []


def test_what_newton_rejects_is_rejected_on_data_too(write):
    for names, options in (
        (("paper", "start"), {"layout": "paper", "start": "identity"}),
        (("alpha",), {"alpha": -1.0}),
        (("employd", "employed"), {"target": "employd"}),
        (("nowhere.csv",), {"data": Path("nowhere.csv")}),
    ):
        with rejects(*names):
            findings(**options)
    long = "a,b\n" + "\n".join(f"{i},{i % 7}" for i in range(2400))
    with rejects("tokens"):
        findings(write(long), layout="paper", k=0)


# Accuracy on held-out rows, and files of predictions.


def test_the_accuracy_on_held_out_rows_is_that_of_least_squares(write):
    """Against least squares with an intercept on the raw numbers, which standardising is."""
    drawn = rng(5)
    features = drawn.normal(size=(40, 3)) * [1, 10, 0.1]
    label = features @ [2, -0.3, 5] + 7 + drawn.normal(size=40)
    table = np.column_stack([features, label, np.full(40, 3.0)])
    text = "a,b,c,y,same\n" + "\n".join(",".join(map(repr, row)) for row in table.tolist())
    found = findings(write(text), target="y", k=12, layout="direct", domain="float")
    assert failing(found) == []
    order = rng().permutation(40)
    out, kept = np.sort(order[:8]), np.sort(order[8:])
    ones = np.column_stack([np.ones(40), features])
    left = label[out] - ones[out] @ np.linalg.lstsq(ones[kept], label[kept], rcond=None)[0]
    rmse = float(np.sqrt(np.mean(left**2)))
    share = 1 - np.mean(left**2) / np.mean((label[out] - label[kept].mean()) ** 2)
    said = found["direct/held-out"]
    assert f"OLS: R² {share:.4g}, RMSE {rmse:.4g}" in said.detail
    assert f"R² {share:.4g}, RMSE {rmse:.4g}" in said.name
    first, *_, last = said.detail.splitlines()
    assert re.findall(r"\d+", first) == ["32", "8", "4", "3"]  # rows, held out, features, rank
    assert first.endswith("same")  # the constant column
    assert "k = " in last


def test_predictions_are_written_in_the_units_of_the_file(tmp_path):
    file = tmp_path / "out.csv"
    found = findings(target="employed", k=31, layout="direct", domain="float", predictions=file)
    assert failing(found) == []
    with file.open(newline="") as written, LONGLEY.open(newline="") as given:
        rows, lines = list(csv.DictReader(written)), given.read().splitlines()
    assert list(rows[0]) == ["line", "employed", "direct", "ols"]
    assert b"\r" not in file.read_bytes()
    header = lines[0].split(",")
    for row in rows:
        own = dict(zip(header, lines[int(row["line"]) - 1].split(","), strict=True))
        assert float(row["employed"]) == pytest.approx(float(own["employed"]), rel=1e-12)
        assert float(row["direct"]) == pytest.approx(float(row["ols"]), abs=1e-2)


@pytest.mark.parametrize(
    ("target", "options", "name"),
    [("nowhere/out.csv", {}, "nowhere"), ("out.csv", {"domain": "exact"}, "--domain")],
)
def test_predictions_that_cannot_be_written_are_rejected_first(target, options, name, tmp_path):
    with rejects(name):
        findings(predictions=tmp_path / target, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_transformer_that_does_not_reach_ols_fails(monkeypatch):
    """The recursion does; a model without its last steps, or with noise, is run and seen."""

    def short(model):
        return newton(6, model.n_layers - 2 - 4, safe_alpha(longley_x(), "gram"))

    run = Run(fault=short)
    found = newton_on_data.findings(
        run, data=LONGLEY, target="employed", k=5, layout="direct", domain="float"
    )
    verdicts = {f.id: f.verdict for f in found}
    assert verdicts["direct/steps"] is Verdict.FAILS
    assert verdicts["steps"] is Verdict.HOLDS  # it is about the recursion
    whole = module.from_ols
    monkeypatch.setattr(
        module, "from_ols", lambda *given: whole(*given)._replace(rounding=np.float64(1.0))
    )
    found = newton_on_data.findings(
        run, data=LONGLEY, target="employed", k=5, layout="direct", domain="float"
    )
    assert {f.id: f.verdict for f in found}["direct/steps"] is Verdict.UNDECIDED


def longley_x():
    return read_examples(LONGLEY, "employed", rng()).x


def test_a_name_that_is_too_long(capsys):
    rejected(capsys, ["newton-on-data", "--data", "x" * 300, "--k", "1"], "too long")


def test_predictions_are_not_written_to_the_screen():
    with rejects("--json"):
        findings(predictions=Path("-"), k=1, domain="float")


def test_predictions_do_not_replace_the_data(tmp_path):
    data = tmp_path / "mine.csv"
    data.write_bytes(LONGLEY.read_bytes())
    with rejects("--predictions"):
        findings(data=data, domain="float", k=1, predictions=data)
    assert data.read_bytes() == LONGLEY.read_bytes()
    other = tmp_path / "other.json"
    other.write_text("old")  # a file of predictions is replaced
    findings(target="employed", domain="float", layout="direct", k=1, predictions=other)
    assert other.read_text() != "old"


def test_predictions_over_q_that_are_nearly_equal_fail():
    def fault(model):
        model.unembed.W_U *= 1 + 2.0**-40
        return model

    for run, verdict in ((Run(), Verdict.HOLDS), (Run(fault=fault), Verdict.FAILS)):
        statement = module.newton_statement(run, "direct", "gram", 0.25)
        found = module.exactly(statement, *read_examples(LONGLEY, None, rng()), 1)
        assert found.verdict is verdict
