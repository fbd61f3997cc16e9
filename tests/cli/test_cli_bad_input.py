"""Wrong input on the command line: one line, with exit code 2.

Options out of the range that they declare are tried for every claim in `test_conformance.py`.
"""

import re
import shlex
from importlib.metadata import version
from pathlib import Path

import pytest
from refusals import check_line, rejects

from verify.claim import Run
from verify.cli import main as cli

LONGLEY = str(Path(__file__).parents[2] / "examples" / "data" / "longley.csv")
LONG = "Jane is a teacher. " * 60 + "What is the profession of Jane?"


BAD_INPUT = {
    # command line: what its message has to name: the option, the value, what is near
    "": ("list",),
    "--nosuch": ("--nosuch", "verify --help"),
    "newton --nosuch 3": ("--nosuch", "verify newton --help"),
    "newton --k x": ("--k", "give an integer", "verify newton --help"),
    "newton --alpha x": ("--alpha", "give a number"),
    "newton --layout x": ("--layout': 'x' is not one of", "ladder"),
    "newton-or-gd --checkpoint ''": ("no checkpoint '':",),
    "sweep newton --k 1..x --out runs": ("1..x", "give an integer; write values"),
    "newtn": ("newtn", "newton"),
    "NEWTON": ("NEWTON", "newton"),
    "show NEWTON": ("NEWTON", "newton"),
    "newton --k 3 --seed 1 --k=3": ("--k", "verify newton --help"),
    "newton --quick --quick": ("--quick", "verify newton --help"),
    "shortcut --compact --no-compact": ("-compact", "verify shortcut --help"),
    "newton -q --quiet": ("--quiet", "verify newton --help"),
    "build newton --save a.safetensors --save b.safetensors": ("--save",),
    "build induction --at vocabulary_size=0": ("vocabulary_size", "V"),
    "lst": ("lst", "lstm"),
    "selftest newtn": ("newtn", "newton"),
    "selftest newton-direct": ("newton-direct", "newton"),
    "sweep newton-direct --k 1..2": ("newton-direct", "newton"),
    "newton-direct": ("newton-direct", "newton"),
    "composition --prompt nope": ("prompt", "nope"),
    "composition --prompt ''": ("prompt",),
    "zzzzzz": ("zzzzzz",),
    "newton --kk 3": ("--kk", "--k"),
    "newton --sampels 3": ("--sampels", "--samples"),
    "newton --dom exact": ("--dom", "--domain"),
    "gradient-descent --step 3": ("--step", "--step-size"),
    "newton extra": ("extra",),
    "newton --k": ("--k",),
    "newton --k five": ("--k",),
    "newton --certificate -q": ("--certificate", "-q"),
    "newton --certificate --quick": ("--certificate", "--quick"),
    "newton --plot --layout direct": ("--plot", "--layout"),
    f"newton-on-data --data {LONGLEY} --predictions --k 1": ("--predictions", "--k"),
    "build hop --at --save": ("--at", "--save"),
    "report run.json --out --help": ("--out", "--help"),
    "newton --k 2.5": ("--k",),
    "newton --seed -1": ("seed", "-1"),
    "newton -v --quiet": ("--quiet", "--verbose"),
    "all --quick -q -v": ("--quiet", "--verbose"),
    "rates --d 1000000000000000000000000000000": ("d", "1000000000000000000000000000000"),
    "newton --json F.png --plot F.png": ("--json", "--plot", "F.png"),
    "induction --prompt words --max-length 5": ("max_length", "words"),
    "induction --prompt words --certificate x.json": ("--certificate", "--prompt"),
    "induction --prompt words --plot x.png": ("--plot", "--prompt"),
    "composition --prompt words --plot x.png": ("--plot", "--prompt"),
    "automata --automaton S3 --states 4": ("states", "S3"),
    "induction --prompt words --vocabulary-size 8": ("vocabulary_size", "words"),
    "composition --n-points 3 --prompt words": ("n_points", "words"),
    "newton --k 1001 --domain modular": ("k", "1001"),
    "newton --d 500 --n 10000 --k 1001": ("k", "1001"),
    "comb --p 25": ("p", "25", "10000"),
    "fourier-filters --largest 10 --alpha 8.1": ("alpha", "8.1", "30"),
    "ngram --pseudo-counts 10000": ("--error", "0.001"),
    "newton --alpha 0": ("alpha", "0.0"),
    "newton --alpha -1": ("alpha", "-1.0"),
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
    "list --markdown memory": ("--markdown", "memory"),
    "build hop --at k=99999999999999999999": ("k=99999999999999999999", "18 digits"),
    "show newtn": ("newtn", "newton"),
    "show newton --latex --bibtex": ("--latex", "--bibtex"),
    "newton --plot picture.gif": ("picture.gif",),
    "newton --plot nowhere/p.png": ("nowhere",),
    "newton --json nowhere/f.json": ("nowhere",),
    "all --json nowhere/f.json": ("nowhere",),
    "newton --json .": ("folder",),
    "newton --json=": ("--json",),
    "report run.json --out ''": ("--out", "empty"),
    "report '' --out pages": ("runs", "empty"),
    "summary ''": ("out", "empty"),
    "build newton-direct --save ''": ("--save", "empty"),
    "newton --plot ''": ("--plot", "empty"),
    "newton --certificate=": ("--certificate", "empty"),
    "automata --file ''": ("--file", "empty"),
    "squaring --edges ''": ("--edges", "empty"),
    "newton-on-data --data ''": ("--data", "empty"),
    f"newton-on-data --data {LONGLEY} --predictions ''": ("--predictions", "empty"),
    f"composition --prompt '{LONG}'": ("prompt", "307", "256"),
    "selftest --json newton": ("--json", "newton"),
    "selftest newton --trained": ("newton", "--trained"),
    "all --jobs 1025": ("jobs", "1025"),
    "newton --json ''": ("--json",),
    f"newton --layout ladder --k 1{'0' * 400}": ("k",),
    "newton --alpha 1e-320": ("alpha", "1e-320"),
    "newton-or-gd --checkpoint nothing": ("nothing",),
    "ill-conditioned --checkpoint regression-small": ("regression-small",),
    "gradient-descent --step-size 0": ("step_size", "0.0"),
    "gradient-descent --domain symbolic --d 30": ("d", "30"),
    "gradient-descent --plot p.png": ("--plot",),
    "online-gradient-descent --domain symbolic": ("symbolic", "exact"),
    "rates --condition 1": ("condition", "1.0"),
    "rates --condition 1e8": ("condition", "100000000.0"),
    "program --program nowhere.py:reverse": ("no file", "nowhere.py"),
    "depth --largest-condition 1e7": ("largest_condition", "1e+07"),
    "depth --largest-k 100000": ("largest_k", "100000"),
    f"newton-on-data --data {LONGLEY} --d 3": ("--d",),
    f"newton-on-data --data {LONGLEY} --alpha 1e308": ("alpha", "1e+308"),
    f"newton-on-data --data {LONGLEY} --alpha 1e-300": ("alpha", "1e-300"),
    f"newton-on-data --data {LONGLEY} --alpha 5e-324": ("alpha", "5e-324"),
    "newton --alpha 1e308": ("alpha", "1e+308"),
    "modern-hopfield --beta 1e308": ("beta", "1e+308"),
    "attention-is-hopfield --beta 1e308": ("beta", "1e+308"),
    "nearest-neighbour --sharpness 1e308": ("sharpness", "1e+308"),
    "chebyshev --smallest 5e-324": ("smallest", "4.94066e-324"),
    "chebyshev --n 100000 --samples 100000": ("100000",),
    "attention-patterns --max-length 1000": ("error", "0.001"),
    "induction --max-length 1000": ("error", "0.001"),
    "nearest-neighbour --n 1000 --samples 100000": ("n", "samples", "100000"),
    "automata --states 1000 --max-length 4096": ("states", "1000"),
    "ill-conditioned --checkpoint nowhere/model": ("nowhere", "model.safetensors"),
    "good-turing --documents 50000": ("documents", "50000"),
    "attention-is-hopfield --d 200 --n-patterns 200": ("polynomials", "patterns"),
    f"newton-on-data --data {LONGLEY} --predictions nowhere/p.csv": ("nowhere",),
}


@pytest.mark.parametrize("line", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_2(line, capsys):
    assert cli.main(shlex.split(line)) == 2
    said, errors = capsys.readouterr()
    assert said == ""  # neither header nor findings before an error
    assert errors.startswith("error: ")
    check_line(errors, *BAD_INPUT[line])


@pytest.mark.parametrize("line", ["newton --k", "newton --seed", "selftest newton --seed"])
def test_an_integer_of_thousands_of_digits_is_one_line_and_exit_2(line, capsys):
    assert cli.main([*line.split(), "1" * 5000]) == 2
    said, errors = capsys.readouterr()
    assert said == ""
    check_line(errors, line.split()[-1], "give fewer digits")


def test_the_version_is_printed(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"weightwright {version('weightwright')}\n"
    assert cli.main(["--help"]) == 0
    assert "--version" in capsys.readouterr().out


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: …")]
)
def test_too_little_memory_is_one_line(error, capsys, monkeypatch):
    def greedy(words):
        raise error

    monkeypatch.setattr("verify.cli.main._app", greedy)
    assert cli.main(["newton"]) == 2
    assert capsys.readouterr().err.startswith("error: there is not enough memory: ")


def test_a_seed_below_zero_is_rejected():
    with rejects("seed", "-1"):
        Run(seed=-1)


@pytest.mark.parametrize("wrong", ["rates --condition 1", "clustering --beta 6"])
def test_the_help_states_the_limits_of_numbers(wrong, capsys):
    name, *_ = words = wrong.split()
    assert cli.main(words) == 2
    limits = set(re.findall(r"\d[\d.e]*", capsys.readouterr().err.split(": ")[-1]))
    assert cli.main([name, "--help"]) == 0
    assert len(limits) == 2
    assert limits <= set(re.findall(r"\d[\d.e]*", capsys.readouterr().out))
