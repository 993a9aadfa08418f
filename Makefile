# Each target sets up what it needs: the packages of requirements.lock, in .venv.

PYTHON ?= python3
CORES ?= all
CONFIG ?=
STATEMENT ?=
SEEDS ?=
KILLS ?= 20
COMMANDS ?= figures test
UV ?= uv
IN_TURN ?= $(if $(shell command -v flock),flock Makefile)
LOCK_FLAGS ?=

# Nothing that the shell tells Python: packages that it puts first (say, of an environment module)
# would shadow the locked ones, without bytecode on disk every job would compile the package, and
# without docstrings analyses have no titles. Paths and files are in UTF-8, whatever the locale.
unexport $(filter PYTHON% NUMBA_NUM_THREADS,$(.VARIABLES))
export PYTHONUTF8 := 1
export LC_ALL := C.UTF-8

# Containers may run as a user who has no name, and no home to write to.
ifndef LOGNAME
export LOGNAME := $(shell id -un 2>/dev/null || id -u)
endif
ifneq ($(shell test -w "$$HOME" || echo no),)
export HOME := $(CURDIR)/.snakemake/home
endif

# The script `activate` of some versions of Python fails where the folder has a `$` in its name.
IN_VENV := export PATH="$$PWD/.venv/bin:$$PATH" &&
# Install $(2) for the Python of $(1): by uv where there is one, and by pip elsewhere or where uv
# fails, since it does not know the package index that pip may be set to.
install = { command -v $(UV) >/dev/null && \
    $(UV) --no-config pip install --quiet --compile-bytecode --python $(1)/bin/python $(2); } || \
    $(1)/bin/python -m pip --disable-pip-version-check -qq install $(2)

# What the workflow consists of.
WORKFLOW := Makefile Snakefile config notebooks profiles reference src tools workflow

# Tests of a file share what they run first, and the long files come first: tests/conftest.py.
PARALLEL := --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# The shell takes the name from the environment, where make puts it, and reads nothing into it.
USE_CONFIG = $(if $(CONFIG),--configfile "$$CONFIG")

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Commands are not shown, only what they say; `make -n` shows them.
.SILENT:
.PHONY: help figures figure verdict races infer hard claims theory compare compare-axes stability \
    environments grid report site article crate smoke smoke-all verify sample raced reference bench scaling \
    test test-long test-all test-faults test-clone test-slurm mutants lint format \
    docs lock clean distclean own-studies

# Comes first in targets whose recipes name the studies that they run.
own-studies:
	test -z "$$CONFIG" || \
	    { echo 'error: CONFIG: make $(MAKECMDGOALS) has studies of its own' >&2; exit 1; }

# A line that begins with `#:` heads a group of the list; behind `##` stand minutes and words.
help:  ## 0 | this list
	echo 'Minutes are for two idle cores; the first target takes 1 to 2 more for packages.'
	awk -F ':.*## | [|] ' '/^#: / { printf "\n%s\n", substr($$0, 4) } \
	    /^[a-z-]+:.*## / { printf "  make %-12s%5s  %s\n", $$1, $$2, $$3 }' Makefile
	echo
	echo 'settings, as in: make figures CONFIG=config/mine.yaml CORES=4'
	echo '  CONFIG       file of a study, for what is run, judged and published'
	echo '  CORES        at most this many at once; all by default'
	echo '  STATEMENT    key of config/claims.yaml or of your own; SEEDS is how many runs'
	echo '  FULL, LARGE  1 for the long form of verify and reference, of test-slurm'
	echo '  PARTS, COPY  what verify FULL=1 runs, and the folder in which it goes on'
	echo '  KILLS        how often test-faults kills a run; 20 by default'
	echo '  COMMANDS     what test-clone runs; "figures test" by default'
	echo '  PYTHON       interpreter that makes .venv; python3 by default'

#: run

figures: .venv/kernels  ## 2 | the whole default study: figures/ and results/paper
	$(IN_VENV) snakemake --cores $(CORES) $(USE_CONFIG)

figure: .venv/kernels  ## 1 | the panels and the page of Figure 1 alone
	$(IN_VENV) snakemake figure summary --cores $(CORES) $(USE_CONFIG)

environments: own-studies .venv/kernels  ## 8 | the experiment on well-known environments
	$(IN_VENV) set -e; for study in config/environments/*.yaml; do \
	    snakemake figure policies --cores $(CORES) --configfile $$study; done
	$(IN_VENV) snakemake environments --cores $(CORES)
	$(IN_VENV) python tools/record.py results/environments environments
	cp results/environments/figures/environments.* figures

grid: .venv/kernels  ## 1 | every combination of settings on random environments
	$(IN_VENV) snakemake grid --cores $(CORES) $(USE_CONFIG)

smoke: own-studies .venv/kernels  ## 1 | figures, claims and theory on a tiny budget
	$(IN_VENV) snakemake all claims theory --cores $(CORES) --configfile config/smoke.yaml

smoke-all: own-studies .venv/kernels  ## 2 | every rule and every analysis on a tiny budget
	$(IN_VENV) snakemake all claims theory compare compare_axes stability settled grid crate --cores $(CORES) \
	    --configfile config/smoke.yaml

#: judge

verdict: .venv/kernels  ## 1 | one statement, by its own runs: STATEMENT=... SEEDS=
	$(IN_VENV) python tools/verdict.py "$$STATEMENT" "$$SEEDS" "$$CONFIG" --cores $(CORES)

claims: .venv/kernels  ## 30 | the paper's statements under every reading
	$(IN_VENV) snakemake claims --cores $(CORES) $(USE_CONFIG)

theory: .venv/kernels  ## 15 | what the theorems promise, beside runs
	$(IN_VENV) snakemake theory --cores $(CORES) $(USE_CONFIG)

compare: .venv/kernels  ## 35 | what an answer buys, method by method
	$(IN_VENV) snakemake compare --cores $(CORES) $(USE_CONFIG)

compare-axes: .venv/kernels  ## 20 | the same for other people, and more states
	$(IN_VENV) snakemake compare_axes --cores $(CORES) $(USE_CONFIG)

stability: .venv/kernels  ## 15 | whether ZPGPD-HF settles: predictions and long runs
	$(IN_VENV) snakemake stability --cores $(CORES) $(USE_CONFIG)

infer: own-studies .venv/kernels  ## 110 | T by its rule, N by the text, verdicts on fresh data
	$(IN_VENV) snakemake settled --cores $(CORES) --configfile config/settled.yaml
	$(IN_VENV) snakemake infer --cores $(CORES) --configfile config/inference.yaml
	$(IN_VENV) snakemake settled --cores $(CORES)
	$(IN_VENV) snakemake verdict_table --cores $(CORES) --configfile config/confirmation.yaml
	$(IN_VENV) python tools/record.py results/paper infer

hard: own-studies .venv/kernels  ## 165 | everything about the hard case
	$(IN_VENV) snakemake all claims theory stability --cores $(CORES) --configfile config/hard.yaml
	$(IN_VENV) snakemake verdict_table --cores $(CORES) \
	    --configfile config/hard.yaml config/hard-pilot.yaml
	$(IN_VENV) snakemake infer --cores $(CORES) \
	    --configfile config/hard.yaml config/inference.yaml config/hard-inference.yaml
	$(IN_VENV) snakemake verdict_table --cores $(CORES) \
	    --configfile config/hard.yaml config/hard-confirmation.yaml
	$(IN_VENV) python tools/record.py results/hard hard
	cp results/hard-inference/figures/rounds.* figures/hard

races: own-studies .venv/kernels  ## 120 | all races for step sizes again, and their record
	$(IN_VENV) snakemake races --cores $(CORES) --configfile config/hard.yaml config/hard-races.yaml
	{ grep '^#' config/steps.yaml; cat results/hard-races/steps.yaml; } >results/hard-races/record.yaml
	mv results/hard-races/record.yaml config/steps.yaml
	cp results/hard-races/races.csv reference
	$(IN_VENV) set -e; for study in 'config/hard.yaml config/inference.yaml config/hard-inference.yaml' \
	        config/environments/*.yaml config/inference.yaml config/races.yaml; do \
	    snakemake races --cores $(CORES) --configfile $$study; \
	    made=results/$$(basename $${study##* } .yaml); \
	    cat $$made/steps.yaml >>config/steps.yaml; \
	    tail -n +2 $$made/races.csv >>reference/races.csv; done

#: publish

site: .venv-site/installed  ## 1 | pages for readers: results/paper/site/index.html
	$(IN_VENV) PYTHONPATH=.venv-site python site/build.py "$$CONFIG"

report: .venv/installed  ## 1 | all results in one file: results/paper/report.html
	test -z "$$CONFIG" || { echo 'error: CONFIG: docs/report.md has the command for it' >&2; exit 1; }
	$(IN_VENV) snakemake reported --cores $(CORES) --report results/paper/report.html --report-after-run

crate: .venv/installed  ## 1 | workflow, configuration and results in a .zip
	$(IN_VENV) snakemake crate --cores $(CORES) $(USE_CONFIG)

article: .venv-article/installed  ## 1 | the replication as an article, from reference/
	.venv-article/bin/python article/build.py

#: check

# In a copy of what the workflow needs, with the package of the copy. The copy is new, and goes when all
# agrees; one that is named by COPY is used as it stands, and stays.
verify: TARGETS = $(if $(filter-out 0,$(FULL)),$(PARTS),sample)
verify: PARTS = figures claims theory stability $(if $(CONFIG),,compare compare-axes infer hard environments raced)
verify: .venv/kernels  ## 1 | one seed again, compared with reference/ (FULL=1: 430)
	$(IN_VENV) python tools/verify.py '' "$$CONFIG"
	$(IN_VENV) copy=$${COPY:-$$(mktemp -d -t verify-XXXXXX)} && mkdir -p "$$copy" || exit; \
	    tar --create --exclude=__pycache__ $(WORKFLOW) | tar --extract --directory "$$copy" && \
	    echo "Running $(TARGETS) in $$copy" && \
	    make --directory "$$copy" --jobs=1 --no-print-directory --assume-old=.venv/kernels \
	        IN_VENV='export PYTHONPATH="$$$$PWD/src" &&' $(TARGETS) && ran='$(TARGETS)'; \
	    python tools/verify.py "$$copy" "$$CONFIG" $$ran && { test "$$COPY" || rm -r "$$copy"; }

# For `make verify`: one seed of everything that is cheap, and the races of the hard case, whose outcome
# it otherwise takes from the record.
sample: .venv/kernels
	$(IN_VENV) snakemake sample --cores $(CORES) $(USE_CONFIG) --config seeds=1

raced: .venv/kernels
	$(IN_VENV) snakemake results/hard-races/calibration/npgpd_hf.csv \
	    results/hard-races/calibration/zpgpd_hf.csv --cores $(CORES) \
	    --configfile config/hard.yaml config/hard-races.yaml

test: .venv/kernels .venv-site/installed .venv-article/installed  ## 5 | the test suite
	$(IN_VENV) pytest $(PARALLEL) -m 'not long and not slow and not slurm'

test-long: .venv/kernels .venv-site/installed .venv-article/installed  ## 17 | tests of workflows, site, article; long simulations
	$(IN_VENV) pytest $(PARALLEL) -m long

test-all: .venv/kernels .venv-site/installed .venv-article/installed  ## >120 | both of them, and the slow tests
	$(IN_VENV) pytest $(PARALLEL) -m 'not slurm'

test-slurm: .venv/installed  ## 9 | on a Slurm that root starts here (LARGE=1: longer)
	$(IN_VENV) pytest -m 'slurm$(if $(filter-out 0,$(LARGE)),, and not slow)' tests/slurm

test-faults: .venv/kernels  ## 30 | killed runs, odd folders, kernels with checked indices
	$(IN_VENV) KILLS=$(KILLS) pytest $(PARALLEL) -m faults

test-clone: .venv/installed  ## 15 | what README says, in a clean clone with an empty home
	$(IN_VENV) COMMANDS='$(COMMANDS)' pytest tests/clone

reference: RECORDED := figures $(if $(filter-out 0,$(FULL)),claims theory stability compare compare-axes)
reference: own-studies .venv/kernels  ## 2 | reference/ and figures/ from scratch (FULL=1: 120)
	$(IN_VENV) snakemake $(subst -,_,$(RECORDED:figures=all)) --forceall --cores $(CORES)
	$(IN_VENV) python tools/record.py results/paper sample $(RECORDED)

#: develop

lint: .venv/installed  ## 1 | check style, types and the workflow's good practice
	$(IN_VENV) ruff check
	$(IN_VENV) ruff format --check
	$(IN_VENV) mypy
	$(IN_VENV) snakefmt --check Snakefile workflow
	$(IN_VENV) python tools/lint_workflow.py

format: .venv/installed  ## 1 | rewrite the code in the style that lint checks
	$(IN_VENV) ruff check --fix
	$(IN_VENV) ruff format
	$(IN_VENV) snakefmt Snakefile workflow

docs: .venv/installed  ## 1 | the pages of config/ from the schemas' descriptions
	$(IN_VENV) python tools/document_config.py

bench: .venv/kernels  ## 8 | the engine's speed beside C, JAX, NumPy and Python
	$(MAKE) --no-print-directory .venv-bench/installed || \
	    echo 'JAX could not be installed: the table will do without it' >&2
	$(IN_VENV) python -m benchmarks

scaling: .venv/kernels  ## 5 | cost and memory against every size: docs/scaling.png
	$(IN_VENV) python -m benchmarks.scaling

mutants: .venv/kernels .venv-mutants/installed  ## 60 | change the code in 200 places: does a test fail?
	.venv-mutants/bin/python tools/mutants/run.py

# Once for all platforms. One version for every Python, not the newest for each: results are to be
# comparable.
lock:  ## 1 | resolve pyproject.toml again, with uv
	$(UV) --no-config pip compile pyproject.toml --all-extras $(addprefix --group ,build test lint) \
	    --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	    --no-emit-index-url --custom-compile-command 'make lock' \
	    --output-file requirements.lock --quiet $(LOCK_FLAGS)

clean:  ## 0 | remove results; keep the environment and figures/
	rm -rf results .snakemake

distclean: clean  ## 0 | remove everything that a target has made
	rm -rf .venv .venv-article .venv-bench .venv-mutants .venv-site .hypothesis .mypy_cache .pytest_cache .ruff_cache src/*.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +

# Two `make` in one clone install in turn, and the second one finds everything done.
ifndef TURN
.venv/locked .venv/installed .venv/kernels \
.venv-article/installed .venv-bench/installed .venv-mutants/installed .venv-site/installed: ANEW
	$(IN_TURN) $(MAKE) --silent TURN=mine $@
ANEW:
else

# Made from scratch whenever the lock changes, so that nothing of an older one stays behind.
# A dependency may come as source only. To build it without packages from outside the lock, the
# locked build backend is installed first and build isolation is off.
.venv/locked: requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'error: Python 3.11 or newer is needed: make PYTHON=/path/to/python' >&2; exit 1; }
	echo 'Installing the locked packages into .venv: a minute or two ...'
	$(PYTHON) -m venv --clear .venv
	awk '/^[a-z]/ { keep = /^setuptools==/ } keep' requirements.lock > .venv/backend.lock
	$(call install,.venv,--require-hashes -r .venv/backend.lock)
	$(call install,.venv,--require-hashes --no-build-isolation -r requirements.lock)
	touch $@

# Packages that only the benchmark's peers need do not belong in the package's environment.
.venv-bench/installed: benchmarks/requirements.lock
	$(PYTHON) -m venv --clear .venv-bench
	$(call install,.venv-bench,--require-hashes -r benchmarks/requirements.lock)
	touch $@

# Nor is what makes the site; it works with the packages of .venv, so its own lie beside them.
.venv-site/installed: site/requirements.lock | .venv/installed
	rm -rf .venv-site
	$(call install,.venv,--require-hashes --no-deps --target .venv-site -r site/requirements.lock)
	touch $@

# Nor is what typesets the article.
.venv-article/installed: article/requirements.lock
	$(PYTHON) -m venv --clear .venv-article
	$(call install,.venv-article,--require-hashes -r article/requirements.lock)
	touch $@

# Nor is what makes mutants of the code, which are tested in .venv.
.venv-mutants/installed: tools/mutants/requirements.lock
	$(PYTHON) -m venv --clear .venv-mutants
	$(call install,.venv-mutants,--require-hashes -r tools/mutants/requirements.lock)
	touch $@

# Where the package is, is written relative to its place: Python reads it in the locale's encoding.
.venv/installed: .venv/locked pyproject.toml
	$(call install,.venv,--no-build-isolation --no-deps -e .)
	find .venv -name '__editable__.*.pth' -exec sh -c 'echo ../../../../src >"$$0"' {} \;
	touch $@

# Compiled here, kernels are compiled once; jobs that start side by side would each do it.
.venv/kernels: .venv/installed $(wildcard src/pgpd_hf/core/*.py src/pgpd_hf/algorithms/*.py)
	echo 'Compiling the kernels: half a minute ...'
	$(IN_VENV) python tools/compile_kernels.py
	touch $@

endif
