"""The command line: what is refused, in one line, with exit code 2."""

import shlex
from pathlib import Path

import pytest
from refusals import check_line, rejects

from verify.claim import Run
from verify.cli import main as cli
from verify.regression.depth import depth
from verify.regression.gradient_descent import gradient_descent
from verify.regression.newton import newton
from verify.regression.newton_on_data import newton_on_data
from verify.regression.rates import rates


def run(*words: str) -> int:
    return cli.main(list(words))


LONGLEY = str(Path(__file__).parents[2] / "examples" / "data" / "longley.csv")


BAD_INPUT = {
    # command line: what its message has to name: the option, the value, what is near
    "": ("list",),
    "newtn": ("newtn", "newton"),
    "lst": ("lst", "lstm"),
    "zzzzzz": ("zzzzzz",),
    "newton --kk 3": ("--kk", "--k"),
    "newton --sampels 3": ("--sampels", "--samples"),
    "newton --dom exact": ("--dom", "--domain"),
    "gd --step 3": ("--step", "--step-size"),
    "newton extra": ("extra",),
    "newton --k": ("--k",),
    "newton --k five": ("--k",),
    "newton --k 2.5": ("--k",),
    "newton --k -1": ("k", "-1"),
    "newton --n 0": ("n", "0"),
    "newton --d 0": ("d", "0"),
    "newton --samples 0": ("samples", "0"),
    "newton --seed -1": ("seed", "-1"),
    "rates --d 1000000000000000000000000000000": ("d", "1e+30"),
    "newton --json F.png --plot F.png": ("--json", "--plot", "F.png"),
    "newton --domain exact --samples 5": ("samples", "exact"),
    "induction --prompt words --n 5": ("n", "words"),
    "composition --size 3 --prompt words": ("size", "words"),
    "newton --k 1001 --domain modular": ("k", "1001"),
    "newton --alpha 0": ("alpha", "0.0"),
    "newton --alpha -1": ("alpha", "-1.0"),
    "newton --alpha nan": ("alpha", "nan"),
    "newton --alpha inf": ("alpha", "inf"),
    "newton --alpha much": ("--alpha",),
    "newton --layout pape": ("pape", "paper"),
    "newton --domain complex": ("complex", "symbolic"),
    "newton --start zero": ("zero", "gram", "identity"),
    "newton --domain symbolic --d 30": ("d", "30"),
    "newton --domain exact --k 40": ("k", "40"),
    "newton --interleaved --layout paper": ("paper", "direct"),
    "newton --interleaved --domain modular": ("hardmax",),
    "newton --layout paper --start identity": ("paper", "gram"),
    "newton-on-data": ("--data",),
    "newton-on-data --data nowhere.csv": ("nowhere.csv",),
    f"newton-on-data --data {LONGLEY} --target employd": ("employd", "employed"),
    f"newton-on-data --data {LONGLEY} --target z": ("z",),
    f"newton --data {LONGLEY}": ("--data",),
    "list regresion": ("regresion",),
    "show newtn": ("newtn", "newton"),
    "newton --plot picture.gif": ("picture.gif",),
    "newton --plot nowhere/p.png": ("nowhere",),
    "newton --json nowhere/f.json": ("nowhere",),
    "all --json nowhere/f.json": ("nowhere",),
    "newton --json .": ("folder",),
    "newton --json ''": ("--json",),
    f"newton --layout ladder --k 1{'0' * 400}": ("k", "1e300"),
    "newton --alpha 1e-320": ("alpha", "1e-320"),
    "newton-or-gd --checkpoint nothing": ("nothing",),
    "ill-conditioned --checkpoint regression-small": ("regression-small",),
    "gd --step-size 0": ("step_size", "0.0"),
    "gd --step-size nan": ("step_size", "nan"),
    "gd --k 0": ("k", "0"),
    "gd --n 0": ("n", "0"),
    "gd --d 0": ("d", "0"),
    "gd --domain symbolic --d 30": ("d", "30"),
    "gd --plot p.png": ("--plot",),
    "ogd --n 0": ("n", "0"),
    "ogd --d 0": ("d", "0"),
    "ogd --domain symbolic": ("symbolic", "exact"),
    "ols --d 1": ("d", "1"),
    "rates --condition 1": ("condition", "1.0"),
    "rates --condition nan": ("condition", "nan"),
    "rates --condition inf": ("condition", "inf"),
    "rates --digits 19": ("digits", "19"),
    "rates --d 1": ("d", "1"),
    "depth --largest-k -1": ("largest_k", "-1"),
    "depth --largest-condition 1e7": ("largest_condition", "1e+07"),
    "depth --largest-k 100000": ("largest_k", "100000"),
    f"newton-on-data --data {LONGLEY} --d 3": ("--d",),
    f"newton-on-data --data {LONGLEY} --predictions nowhere/p.csv": ("nowhere",),
    "state-size --samples 1": ("samples", "1"),
}


@pytest.mark.parametrize("line", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_2(line, capsys):
    assert run(*shlex.split(line)) == 2
    said, errors = capsys.readouterr()
    assert said == ""  # neither header nor findings before a refusal
    assert errors.startswith("error: ")
    check_line(errors, *BAD_INPUT[line])


def test_too_little_memory_is_one_line(capsys, monkeypatch):
    def greedy(words):
        raise MemoryError

    monkeypatch.setattr("verify.cli.main._app", greedy)
    assert run("newton") == 2
    assert capsys.readouterr().err.startswith("error: there is not enough memory for so much: ")


@pytest.mark.parametrize(
    ("made", "options", "names"),
    [
        (newton, {"k": -1}, ["k", "-1"]),
        (newton, {"d": 0}, ["d", "0"]),
        (newton, {"n": 0}, ["n", "0"]),
        (newton, {"alpha": 0.0}, ["alpha", "0.0"]),
        (newton, {"alpha": float("nan")}, ["alpha", "nan"]),
        (newton, {"domain": "symbolic", "d": 30}, ["d", "30"]),
        (newton_on_data, {"data": Path("nowhere.csv")}, ["nowhere.csv"]),
        (newton, {"domain": "floats"}, ["domain", "floats"]),
        (gradient_descent, {"step_size": -1.0}, ["step_size", "-1.0"]),
        (depth, {"largest_k": -1}, ["largest_k", "-1"]),
        (rates, {"condition": 0.5}, ["condition", "0.5"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_the_same_mistakes_in_python_raise_value_error(made, options, names):
    with rejects(*names):
        made.verdict(Run(), **options)


def test_a_seed_below_zero_is_rejected():
    with rejects("seed", "-1"):
        Run(seed=-1)
