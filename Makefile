# `make verify` and `make test` need Python 3.11 or newer and nothing else.
PYTHON ?= python3
VENV := .venv
TOOLS := .venv-tools
SITE := .venv-site
BIN := $(VENV)/bin
# The threads of two workers on two cores would wait for each other.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# Without bytecode each of the many processes compiles all modules anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: verify proofs record test reach slow tools docs browser lint bench dist clean

verify: $(VENV)/installed
	$(BIN)/python -m verify newton --k 5

# The proofs for all sizes, in theory/proofs, which Rocq checks.  Nothing is installed.
proofs:
	$(PYTHON) theory/proofs/check.py

# One run of all claims at quick sizes, made anew when sources change: tests and the site read it.
record: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python tests/record.py

test: record
	$(PYTEST)

# Functions that the fast tests call with small sizes only, and refusals, or their limits, that they
# do not reach; FOLDER is tests/ or a part of it.
FOLDER ?= tests
reach: $(VENV)/installed
	PYTHONPATH=tests $(BIN)/python -m pytest -p reach_refusals -p reach $(FOLDER)

# Tests that take long.
slow: $(VENV)/installed
	$(PYTEST) -m slow --durations=20

# Tests that need the tools of others, which are many packages: in an environment of their own.
IN_TOOLS := tests/stock/test_gpt2.py tests/stock/test_lens.py tests/stock/test_stock_claim.py \
	tests/sweep/test_sweep_on_dask.py tests/ground_truth/test_methods.py \
	'tests/docs/test_readme.py::test_the_python_examples_print_what_is_shown[ground-truth-0]'
tools: $(TOOLS)/installed
	OMP_NUM_THREADS=1 $(TOOLS)/bin/python -m pytest -m "slow or not slow" $(IN_TOOLS)
	$(TOOLS)/bin/python examples/induction_in_lens.py
	$(TOOLS)/bin/python examples/compile_a_program.py
	$(TOOLS)/bin/python examples/ground_truth.py --quick

# The site, in docs/_build/html, with the recorded run and every example.
docs: record $(SITE)/installed
	mkdir -p docs/_build/source
	OMP_NUM_THREADS=1 $(SITE)/bin/python -m sphinx -q -b html -c docs/site docs/_build/source docs/_build/html

# Its pages in a headless browser, beside torch; after `make docs`.  What needs no package of the
# site is among the tests of the library.
browser: $(SITE)/installed
	OMP_NUM_THREADS=1 $(SITE)/bin/python -m pytest tests/site -m "slow or not slow" \
		--ignore=tests/site/test_site_models.py

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/installed
	$(BIN)/python benchmarks/spectral.py
	$(BIN)/python benchmarks/newton_constructions.py
	$(BIN)/python benchmarks/retrieval.py
	$(BIN)/python benchmarks/long_runs.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/computation.py
	$(BIN)/python benchmarks/graphs.py
	$(BIN)/python benchmarks/arithmetic.py
	$(BIN)/python benchmarks/sensitivity.py
	$(BIN)/python benchmarks/language.py
	$(BIN)/python benchmarks/strings.py
	$(BIN)/python benchmarks/stock.py
	$(BIN)/python benchmarks/structures.py
	$(BIN)/python benchmarks/programs.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/seeds.py

# Wheel and sdist into dist/, the wheel from what the sdist holds.
dist: $(VENV)/installed
	$(BIN)/python -m build

# The environment is made anew when what it is made of changes.
$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

$(TOOLS)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[tools]"
	touch $@

$(SITE)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) $(TOOLS) $(SITE) docs/_build build dist
