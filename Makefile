# Each target sets up what it needs: the packages of requirements.lock, in .venv.

PYTHON ?= python3
CORES ?= all
LOCK_FLAGS ?=

# Packages that the shell (say, an environment module) puts first would shadow the locked ones.
unexport PYTHONPATH PYTHONHOME

# Activated rather than called by path: the rules of the workflow look up `python` in turn.
IN_VENV := . .venv/bin/activate &&
# -qq: errors only.
PIP := .venv/bin/python -m pip --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help figures claims smoke bench test test-all lint format docs lock clean distclean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo '  PYTHON=python3.12 sets the interpreter of a new .venv, CORES=4 limits figures and smoke.'

figures: .venv/installed  ## run the default study: results/paper and the committed figures
	$(IN_VENV) snakemake --cores $(CORES)

claims: .venv/installed  ## judge the paper's statements under every reading (a quarter of an hour)
	$(IN_VENV) snakemake claims --cores $(CORES)

smoke: .venv/installed  ## run every rule on a tiny budget, into its own results folder
	$(IN_VENV) snakemake all claims theory --cores $(CORES) --configfile config/smoke.yaml

bench: .venv/installed  ## time the engine beside C, JAX, NumPy and plain Python (a few minutes)
	@$(MAKE) --no-print-directory .venv-bench/installed || \
	    echo 'JAX could not be installed: the table will do without it' >&2
	$(IN_VENV) python -m benchmarks

test: .venv/installed  ## run the test suite
	$(IN_VENV) pytest -m 'not slow'

test-all: .venv/installed  ## run the test suite with its slow tests
	$(IN_VENV) pytest

lint: .venv/installed  ## check style and the workflow's good practice
	$(IN_VENV) ruff check
	$(IN_VENV) ruff format --check
	$(IN_VENV) snakefmt --check Snakefile workflow
	$(IN_VENV) python tools/lint_workflow.py

format: .venv/installed  ## rewrite the code in the style that lint checks
	$(IN_VENV) ruff check --fix
	$(IN_VENV) ruff format
	$(IN_VENV) snakefmt Snakefile workflow

docs: .venv/installed  ## write config/README.md from the schema's descriptions
	$(IN_VENV) python tools/document_config.py

lock:  ## resolve pyproject.toml anew (needs uv): LOCK_FLAGS=--upgrade for newer versions
	$(PYTHON) tools/lock.py $(LOCK_FLAGS)

clean:  ## remove results, keep the environment and the committed figures
	rm -rf results .snakemake

distclean: clean  ## remove everything that a target made
	rm -rf .venv .venv-bench .hypothesis .pytest_cache .ruff_cache src/*.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +

# Made from scratch whenever the lock changes, so that nothing of an older one stays behind.
# A dependency may come as source only. To build it without packages from outside the lock, the
# locked build backend is installed first and build isolation is off.
.venv/locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'error: Python 3.11 or newer is needed: make PYTHON=/path/to/python' >&2; exit 1; }
	@echo 'Installing the locked packages into .venv: a minute or two ...'
	@$(PYTHON) -m venv --clear .venv
	@awk '/^[a-z]/ { keep = /^setuptools==/ } keep' requirements.lock > .venv/backend.lock
	@$(PIP) install --require-hashes -r .venv/backend.lock
	@$(PIP) install --require-hashes --no-build-isolation -r requirements.lock
	@touch $@

# What the peers of the benchmark need is no business of the package.
.venv-bench/installed: benchmarks/requirements.lock
	@$(PYTHON) -m venv --clear .venv-bench
	@.venv-bench/bin/python -m pip --disable-pip-version-check -qq \
	    install --require-hashes -r benchmarks/requirements.lock
	@touch $@

.venv/installed: .venv/locked pyproject.toml
	@$(PIP) install --no-build-isolation --no-deps -e .
	@touch $@
