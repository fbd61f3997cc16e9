"""The command line: what is refused, in one line, with exit code 2."""

import shlex
from pathlib import Path

import pytest

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
    # command line: the offending value, and a word of the remedy
    "": ("no command", "choose one of list"),
    "newtn": ("newtn", "did you mean 'newton'?"),
    "lst": ("lst", "did you mean 'lstm'?"),
    "zzzzzz": ("zzzzzz", "`verify list` shows them all"),
    "newton --kk 3": ("--kk", "--k"),
    "newton --sampels 3": ("--sampels", "--samples"),
    "newton --dom exact": ("--dom", "--domain"),
    "gd --step 3": ("--step", "--step-size"),
    "newton extra": ("extra", "argument"),
    "newton --k": ("--k", "argument"),
    "newton --k five": ("--k", "valid integer"),
    "newton --k 2.5": ("--k", "valid integer"),
    "newton --k -1": ("k is -1", "at least 0"),
    "newton --n 0": ("n is 0", "at least 1"),
    "newton --d 0": ("d is 0", "at least 1"),
    "newton --samples 0": ("samples is 0", "at least 1"),
    "newton --seed -1": ("seed is -1", "at least 0"),
    "rates --d 1000000000000000000000000000000": ("d is 1e+30", "at most 1e+09"),
    "newton --json F.png --plot F.png": ("--json and --plot both name F.png", "of its own"),
    "newton --domain exact --samples 5": ("samples has no part in domain 'exact'", "leave"),
    "induction --prompt words --n 5": ("n has no part in prompt 'words'", "leave"),
    "composition --size 3 --prompt words": ("size has no part in prompt 'words'", "leave"),
    "newton --k 1001 --domain modular": ("k is 1001", "take k ≤ 1000"),
    "newton --alpha 0": ("alpha is 0.0", "finite number"),
    "newton --alpha -1": ("alpha is -1.0", "finite number"),
    "newton --alpha nan": ("alpha is nan", "finite number"),
    "newton --alpha inf": ("alpha is inf", "finite number"),
    "newton --alpha much": ("--alpha", "valid number"),
    "newton --layout pape": ("'pape'", "'paper'"),
    "newton --domain complex": ("'complex'", "'symbolic'"),
    "newton --start zero": ("'zero'", "'gram', 'identity'"),
    "newton --domain symbolic --d 30": ("d = 30", "try d = 2, n = 2, k = 2"),
    "newton --domain exact --k 40": ("k = 40", "take a smaller k, or the modular domain"),
    "newton --interleaved --layout paper": ("'paper'", "layout 'direct'"),
    "newton --interleaved --domain modular": ("hardmax", "float or exact"),
    "newton --layout paper --start identity": ("'paper' starts from αS", "leave --start at gram"),
    "newton-on-data": ("--data", "Missing option"),
    "newton-on-data --data nowhere.csv": ("nowhere.csv", "check the path"),
    f"newton-on-data --data {LONGLEY} --target employd": ("employd", "did you mean 'employed'?"),
    f"newton-on-data --data {LONGLEY} --target z": ("'z'", "choose one of employed, gnp_deflator"),
    f"newton --data {LONGLEY}": ("--data", "No such option"),
    "list regresion": ("regresion", "choose one of regression, retrieval"),
    "show newtn": ("newtn", "did you mean 'newton'?"),
    "newton --plot picture.gif": ("picture.gif", ".png, .pdf or .svg"),
    "newton --plot nowhere/p.png": ("nowhere", "make it first"),
    "newton --json nowhere/f.json": ("nowhere", "make it first"),
    "all --json nowhere/f.json": ("nowhere", "make it first"),
    "newton --json .": (". is a folder", "name a file"),
    "newton --json ''": ("--json names no file", "leave the name out"),
    f"newton --layout ladder --k 1{'0' * 400}": ("k is above 1e300", "at most 1e+09"),
    "newton --alpha 1e-320": ("alpha is 1e-320", "finite number"),
    "newton-or-gd --checkpoint nothing": ("no checkpoint nothing", "shipped are"),
    "ill-conditioned --checkpoint regression-small": ("isotropic prompts", "give another"),
    "gd --step-size 0": ("step_size is 0.0", "finite number greater than 0"),
    "gd --step-size nan": ("step_size is nan", "finite number greater than 0"),
    "gd --k 0": ("k is 0", "at least 1"),
    "gd --n 0": ("n is 0", "at least 1"),
    "gd --d 0": ("d is 0", "at least 1"),
    "gd --domain symbolic --d 30": ("d = 30", "try d = 2"),
    "gd --plot p.png": ("--plot", "No such option"),
    "ogd --n 0": ("n is 0", "at least 1"),
    "ogd --d 0": ("d is 0", "at least 1"),
    "ogd --domain symbolic": ("'symbolic'", "'exact'"),
    "ols --d 1": ("d is 1", "at least 2"),
    "rates --condition 1": ("condition is 1.0", "between 1 and 1e8"),
    "rates --condition nan": ("condition is nan", "between 1 and 1e8"),
    "rates --condition inf": ("condition is inf", "between 1 and 1e8"),
    "rates --digits 19": ("digits is 19", "at least 20"),
    "rates --d 1": ("d is 1", "at least 2"),
    "depth --largest-k -1": ("largest_k is -1", "at least 0"),
    "depth --largest-condition 1e7": ("largest_condition is 1e+07", "from 1 to 1e+06"),
    "depth --largest-k 100000": ("2.5e+10 layers", "take at most 100"),
    f"newton-on-data --data {LONGLEY} --d 3": ("--d", "No such option"),
    f"newton-on-data --data {LONGLEY} --predictions nowhere/p.csv": ("nowhere", "make it first"),
    "state-size --samples 1": ("samples is 1", "at least 2"),
}


@pytest.mark.parametrize("line", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_2(line, capsys):
    assert run(*shlex.split(line)) == 2
    said, errors = capsys.readouterr()
    assert said == ""  # neither header nor findings before a refusal
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert "Traceback" not in errors
    for part in BAD_INPUT[line]:
        assert part in errors


def test_too_little_memory_is_one_line(capsys, monkeypatch):
    def greedy(words):
        raise MemoryError

    monkeypatch.setattr("verify.cli.main._app", greedy)
    assert run("newton") == 2
    assert capsys.readouterr().err.startswith("error: there is not enough memory for so much: ")


@pytest.mark.parametrize(
    ("made", "options", "words"),
    [
        (newton, {"k": -1}, "k is -1: give a number at least 0"),
        (newton, {"d": 0}, "d is 0: give a number at least 1"),
        (newton, {"n": 0}, "n is 0: give a number at least 1"),
        (newton, {"alpha": 0.0}, "alpha is 0.0: give"),
        (newton, {"alpha": float("nan")}, "alpha is nan"),
        (newton, {"domain": "symbolic", "d": 30}, "try d = 2, n = 2, k = 2"),
        (newton_on_data, {"data": Path("nowhere.csv")}, "no file nowhere.csv: check the path"),
        (newton, {"domain": "floats"}, "domain is 'floats': give 'all' or 'float' or"),
        (gradient_descent, {"step_size": -1.0}, "step_size is -1.0: give a finite number"),
        (depth, {"largest_k": -1}, "largest_k is -1: give a number at least 0"),
        (rates, {"condition": 0.5}, "condition is 0.5: give a number between 1 and 1e8"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_the_same_mistakes_in_python_raise_value_error(made, options, words, unchecked):
    with pytest.raises(ValueError, match=words):
        made.verdict(Run(), **options)


def test_a_seed_below_zero_is_refused():
    with pytest.raises(ValueError, match="seed is -1: give an integer that is at least 0"):
        Run(seed=-1)
