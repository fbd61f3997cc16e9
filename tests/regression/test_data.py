"""CSV files: what is read from them, and what is rejected."""

import csv
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from refusals import rejects

from verify.regression.data import read_table

LONGLEY = Path(__file__).parents[2] / "examples" / "data" / "longley.csv"

# Certified by NIST, to 15 digits.
CERTIFIED = {
    "1": -3482258.63459582,
    "gnp_deflator": 15.0618722713733,
    "gnp": -0.0358191792925910,
    "unemployed": -2.02022980381683,
    "armed_forces": -1.03322686717359,
    "population": -0.0511041056535807,
    "year": 1829.15146461355,
}


def read_examples(*given):
    return read_table(*given).examples


def rng(seed=0):
    return np.random.default_rng(seed)


def test_least_squares_on_the_example_is_the_certified_solution():
    """The normal equations with intercept, over Q, so that near collinearity costs nothing."""
    with LONGLEY.open(newline="") as file:
        rows = [{name: fmpq_of(text) for name, text in row.items()} for row in csv.DictReader(file)]
    X = fmpq_mat([[fmpq(1) if name == "1" else row[name] for name in CERTIFIED] for row in rows])
    y = fmpq_mat([[row["employed"]] for row in rows])
    solution = (X.transpose() * X).solve(X.transpose() * y)
    found = [float(entry) for (entry,) in solution.tolist()]
    assert found == pytest.approx(list(CERTIFIED.values()), rel=1e-13)


def fmpq_of(text):
    whole, _, decimals = text.partition(".")
    return fmpq(int(whole + decimals), 10 ** len(decimals))


def test_the_example_is_standardised_and_split():
    examples = read_examples(LONGLEY, "employed", rng())
    assert examples.x.shape == (13, 6)
    assert examples.y.shape == (13,)
    assert examples.queries.shape == (3, 6)
    # Sums of 13 numbers of size about 1.
    assert np.abs(examples.x.mean(axis=0)).max() < 1e-13
    assert np.abs(examples.x.std(axis=0) - 1).max() < 1e-13
    assert abs(examples.y.mean()) < 1e-13
    assert abs(examples.y.std() - 1) < 1e-13


def test_held_out_rows_are_shifted_like_the_others_and_not_used_for_it(write):
    table = rng(1).normal(size=(11, 3)) * [1, 10, 100] + [5, 0, -7]
    text = "a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in table.tolist())
    examples = read_examples(write(text), "b", rng(3))
    # Whatever rows were drawn: the features are one affine map of rows of the table.
    features = table[:, [0, 2]]
    everything = np.vstack([examples.x, examples.queries])
    kept = [
        next(i for i in range(11) if np.allclose(whiten(features, examples, i), row, atol=1e-9))
        for row in everything
    ]
    assert sorted(kept) == list(range(11))
    assert len(examples.queries) == 11 // 5
    rows = table[kept[: len(examples.x)]]
    assert np.allclose(examples.y, (rows[:, 1] - rows[:, 1].mean()) / rows[:, 1].std())
    assert np.allclose(
        examples.x, (rows[:, [0, 2]] - rows[:, [0, 2]].mean(0)) / rows[:, [0, 2]].std(0)
    )


def whiten(features, examples, i):
    """Row i under the affine map that takes the features to `examples`, found by least squares."""
    drawn = np.sort(np.random.default_rng(3).permutation(11)[2:])
    kept = features[drawn]
    return (features[i] - kept.mean(0)) / kept.std(0)


def test_the_seed_decides_what_is_held_out():
    same = [read_examples(LONGLEY, None, rng(4)).queries for _ in range(2)]
    assert np.array_equal(*same)
    assert not np.array_equal(same[0], read_examples(LONGLEY, None, rng(5)).queries)


def test_the_default_target_is_the_last_column():
    last = read_examples(LONGLEY, None, rng())
    named = read_examples(LONGLEY, "year", rng())
    assert np.array_equal(last.y, named.y)
    assert np.array_equal(last.x, named.x)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("a,b\n1,2\n3,5\n4,4\n", "utf-8-sig"),
        ("a,b\r\n1,2\r\n3,5\r\n4,4", "utf-8"),
        (" a , b \n1, 2\n\n3,5 \n4,4\n\n", "utf-8"),
        ('"a","b"\n"1","2"\n3e0,5\n4,4\n', "utf-8"),
    ],
    ids=["byte order mark", "Windows lines", "spaces and blank lines", "quotes"],
)
def test_the_usual_dialects_are_read(text, encoding, write):
    plain = read_examples(write("a,b\n1,2\n3,5\n4,4\n"), "b", rng())
    other = read_examples(write(text, encoding), "b", rng())
    for name in ("x", "y", "queries"):
        assert np.array_equal(getattr(plain, name), getattr(other, name))


@pytest.mark.parametrize("constant", ["0", "0.1", "1e17", "-3"])
def test_a_constant_feature_becomes_zero(constant, write):
    """0.1 summed thirteen times and divided by thirteen is not 0.1."""
    lines = [f"{i},{constant},{i * i}" for i in range(16)]
    examples = read_examples(write("a,b,c\n" + "\n".join(lines)), "c", rng())
    assert (examples.x[:, 1] == 0).all()
    assert (examples.queries[:, 1] == 0).all()
    assert np.abs(examples.x[:, 0].std() - 1) < 1e-13


@pytest.mark.parametrize("zero", ["0", "-0.0", "+.0e-9", "00e5", " 0 "])
def test_zeros_are_read_in_any_notation(zero, write):
    examples = read_examples(write(f"a,b\n1,2\n{zero},5\n4,4\n4,4\n"), "b", rng())
    plain = read_examples(write("a,b\n1,2\n0,5\n4,4\n4,4\n"), "b", rng())
    assert np.array_equal(examples.x, plain.x)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1.7e308])
def test_numbers_of_any_size_are_standardised(size, write):
    lines = [f"{size * sign / 2!r},{sign}" for sign in (1, -1, 1, -1, 1)]
    examples = read_examples(write("a,b\n" + "\n".join(lines)), "b", rng())
    assert np.isfinite(examples.x).all()
    assert np.abs(examples.x.std() - 1) < 1e-12


REJECTED = {
    # contents: what the line names beside the file
    "": ("0",),
    "a,b\n": ("0",),
    "a,b\n1,2\n3,4\n": ("2", "three"),
    "a\n1\n2\n3\n": ("one",),
    "a;b\n1;2\n2;3\n3;4\n": ("commas",),
    "1,2\n3,4\n5,6\n7,8\n": ("numbers",),
    "a,b\n1,2\n3\n4,5\n": ("line 3", "1", "2"),
    "a,b\n1,2\n\n3,4,5\n4,5\n": ("line 4", "3", "2"),
    "a,b\n1,2\n3,blue\n4,5\n": ("line 3", "'b'", "'blue'"),
    "a,b\n1,2\n3,\n4,5\n": ("line 3", "'b'", "''"),
    "a,b\n1,nan\n3,4\n4,5\n": ("line 2", "'b'", "'nan'"),
    "a,b\n1,2\n-inf,4\n4,5\n": ("line 3", "'a'", "'-inf'"),
    "a,b\n1,7\n2,7\n3,7\n4,7\n": ("'b'", "constant"),
    "a,b\n1,1\n1,2\n1,3\n1,4\n": ("'b'", "constant"),
    "a,b,b\n1,1,1\n2,2,2\n3,3,3\n": ("'b'", "2"),
    "a,a,b\n1,1,1\n2,2,2\n3,4,3\n": ("'a'", "2"),
    "a,b\n1,1_000\n2,2\n3,3\n": ("1_000", "line 2"),
    "a,b\n1,１２\n2,2\n3,3\n": ("'１２'", "line 2", "'b'"),
    "a,b\n1,2\n2,1e-999999999\n3,3\n": ("1e-999999999", "line 3", "'b'"),
    "a,b\n1,2\n2, -.01E-400 \n3,3\n": ("-.01E-400", "line 3", "'b'"),
}


@pytest.mark.parametrize("text", REJECTED)
def test_what_is_not_a_table_of_numbers_is_rejected(text, write):
    with rejects("my.csv", *REJECTED[text]):
        read_examples(write(text), None, rng())


@pytest.mark.parametrize(
    ("target", "columns"),
    [("employd", ["employed"]), ("Year", ["year"]), ("zzz", ["employed", "gnp_deflator", "gnp"])],
)
def test_a_missing_target_is_named_with_the_nearest_columns(target, columns):
    with rejects(target, *columns):
        read_examples(LONGLEY, target, rng())


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    for name in ("nowhere.csv", "", "picture.png"):
        with rejects(str(tmp_path / name)):
            read_examples(tmp_path / name, None, rng())


def test_few_rows_of_a_large_table_are_held_out(tmp_path):
    """Each held-out row is a pass over all rows: at most 10⁶ of them in all."""
    path = tmp_path / "large.csv"
    for rows, held_out in ((15_000, 64), (20_001, 49)):
        path.write_text("a,b\n" + "".join(f"{i % 7},{i}\n" for i in range(rows)))
        x, _, queries = read_examples(path, None, 0)
        assert (len(x), len(queries)) == (rows - held_out, held_out)
