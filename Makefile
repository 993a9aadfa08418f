# Each target sets up what it needs: the packages of requirements.lock, in .venv.

PYTHON ?= python3
CORES ?= all

# Python's variables of the shell are left out: a PYTHONPATH (say, of an environment module) would
# shadow the locked packages. Paths and files are in UTF-8, whatever the locale.
unexport $(filter PYTHON% NUMBA_NUM_THREADS,$(.VARIABLES))
export PIP_USER := 0
export PYTHONUTF8 := 1
export LC_ALL := C.UTF-8

# Containers may run as a user who has no name, and no home to write to.
ifndef LOGNAME
export LOGNAME := $(shell id -un 2>/dev/null || id -u)
endif
ifneq ($(shell test -w "$$HOME" || echo no),)
export HOME := $(CURDIR)/.snakemake/home
endif

# With -P no module comes from the working directory. With -m folders may have any name, unlike with
# the scripts in .venv/bin, whose first line holds the folder.
RUN := .venv/bin/python -P -m
OWN := $(if $(CONFIG),"$$CONFIG")
# A file is checked first, since Snakemake itself would run code in a template.
KNOWN := (cd studies && dirname */Snakefile) | grep -Fqx -- "$$STUDY" || \
    { echo "error: STUDY: one of" $$(cd studies && dirname */Snakefile) "expected" >&2; exit 2; };
ABOUT := $(filter study plan report record,$(MAKECMDGOALS))
CHECK := $(if $(ABOUT),$(if $(STUDY)$(filter study,$(ABOUT)),$(KNOWN))) \
    NAME=$$(.venv/bin/python -I workflow/scripts/configuration.py $(OWN)) || exit;
SNAKEMAKE := $(CHECK) mkdir -p .snakemake/log; touch .snakemake/begun; \
    trap 'echo "Interrupted. The same command goes on from here; jobs above were stopped." >&2' INT; \
    $(RUN) snakemake $(OWN:%=--configfile %) --cores $(CORES)
# What made jobs of this run fail, once more at the end.
CAUSES = { find .snakemake/log -type f -newer .snakemake/begun \
    -exec sed -n 's/^ *error: /error: /p' {} + | sort -u >&2; exit 1; }
OF_STUDY := $(if $(STUDY),--snakefile "studies/$$STUDY/Snakefile")

# A misspelt setting would be ignored, and so would a setting that the goal does not have.
GIVEN := $(foreach it,$(.VARIABLES),$(if $(filter command,$(origin $(it))),$(it)))
has = $(if $(filter $(1),$(MAKECMDGOALS)),$(2))
SETTINGS := $(call has,figures figure plan steps study report publication,CONFIG) CORES PYTHON \
    $(call has,study plan report verify record,STUDY) \
    $(if $(filter verdicts,$(STUDY)),$(call has,study,STATEMENT SEEDS MARGIN FRESH)) \
    $(call has,verify,FULL) $(call has,overlay,EXPERIMENTS)
OTHERS := $(filter-out $(SETTINGS) PIP_% PGPD_HF_%,$(GIVEN))
ifneq ($(OTHERS),)
$(error $(OTHERS): no setting of make $(or $(MAKECMDGOALS),help), which has $(strip $(SETTINGS)))
endif
# With 0, Snakemake would wait for ever.
ifeq ($(filter all 1% 2% 3% 4% 5% 6% 7% 8% 9%,$(CORES)),)
$(error CORES: all, or a number of at least 1, expected, got '$(CORES)')
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Commands are not shown, only what they say; `make -n` shows them.
.SILENT:
.PHONY: help figures figure notebooks plan steps study overlay report verify test test-workflow \
    test-slurm lint format record numbers article publication bench lock clean

# Behind `##` stand minutes and words.
help:  ## 0 | this list
	echo 'Minutes are for two idle cores; the first target takes half a minute more.'
	awk -F ':.*## | [|] ' '/^[a-z-]+:.*## / { printf "  make %-14s%3s  %s\n", $$1, $$2, $$3 }' Makefile
	echo 'Settings, as in: make figures CONFIG=config/mine.yaml CORES=4'
	echo '  CONFIG  file of an experiment of your own, for what is run, planned and reported'
	echo '  CORES   at most this many at once; all by default'
	echo '  FULL    1 for the long form of verify'
	echo '  STUDY   name of a folder of studies, for study, plan, report, verify and record'
	echo '  PYTHON  interpreter that makes .venv; python3 by default'

figures: .venv/kernels  ## 1 | the whole experiment: figures/ and results/paper
	{ $(SNAKEMAKE) --no-hooks && cat "results/$$NAME/summary.txt"; } || $(CAUSES)

figure: .venv/kernels  ## 1 | the panels and the page of Figure 1 alone
	$(SNAKEMAKE) figure

notebooks: .venv/kernels  ## 1 | tutorial, lesson and votes as pages: results/notebooks/
	mkdir -p results/notebooks
	for name in tutorial lesson votes; do \
	    .venv/bin/python workflow/scripts/page.py notebooks/$$name.ipynb \
	        --executed results/notebooks/$$name.ipynb --page results/notebooks/$$name.html || exit; \
	done
	echo 'results/notebooks'

plan: .venv/installed  ## 0 | jobs, and the limits of minutes and memory that a cluster is told
	$(CHECK) .venv/bin/python tools/plan.py --cores $(CORES) $(OF_STUDY) $(OWN:%=--configfile %)

steps: .venv/kernels  ## 3 | step sizes for CONFIG, as the key algorithms of its file
	.venv/bin/python -P tools/steps.py --cores $(CORES) $(OWN)

ASKED = $(if $(STATEMENT),statement="$$STATEMENT") $(if $(SEEDS),judged="$$SEEDS") \
    $(if $(MARGIN),margin="$$MARGIN") $(if $(filter-out 0,$(FRESH)),fresh="$$FRESH")
study: .venv/kernels  ## 30 | one study: STUDY=verdicts (STATEMENT= SEEDS= MARGIN= FRESH=1)
	{ $(SNAKEMAKE) --snakefile "studies/$$STUDY/Snakefile" \
	    $(if $(strip $(ASKED)),--config $(ASKED) --forcerun verdicts); } || $(CAUSES)
	$(if $(strip $(ASKED)),,$(CHECK) \
	    echo "results/$$NAME/$$STUDY; make report STUDY=$$STUDY$(OWN:%= CONFIG=%): a page")

overlay: .venv/installed  ## 0 | two that have run in one figure: EXPERIMENTS="paper mine"
	.venv/bin/python tools/overlay.py "$$EXPERIMENTS"

report: $(if $(STUDY),study,figures)  ## 1 | an experiment, or a STUDY (which it runs first), in one file
	$(SNAKEMAKE) $(OF_STUDY) --report "results/$$NAME/$$STUDY/report.html" && \
	    echo "results/$$NAME/$${STUDY:+$$STUDY/}report.html"

verify: .venv/kernels  ## 1 | one seed again, compared with reference/ (FULL=1: all)
	.venv/bin/python tools/verify.py $(if $(filter-out 0,$(FULL)),--full) --cores $(CORES) \
	    $(if $(STUDY),--study "$$STUDY")

test: .venv/developed .venv/kernels  ## 1 | the tests of the library and of the studies
	$(RUN) pytest --numprocesses 2 -m 'not workflow and not slurm'

test-workflow: .venv/developed .venv/kernels  ## 8 | the tests that run Snakemake
	$(RUN) pytest --numprocesses 2 --dist loadfile -m workflow

test-slurm: .venv/developed .venv/kernels  ## 6 | cluster profiles, on a Slurm that root starts here
	$(RUN) pytest -rs -m slurm tests/slurm

lint: .venv/developed  ## 1 | check style, types and the workflow's good practice
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy
	$(RUN) snakefmt.snakefmt --check Snakefile workflow studies publication
	$(RUN) snakemake --lint

format: .venv/developed  ## 1 | rewrite the code in the style that lint checks
	$(RUN) ruff check --fix
	$(RUN) ruff format
	$(RUN) snakefmt.snakefmt Snakefile workflow studies publication

record: .venv/kernels  ## 1 | write reference/ and figures/ anew, or the tables of STUDY=NAME
	$(SNAKEMAKE) $(or $(OF_STUDY),--forceall)
	.venv/bin/python tools/record.py $(if $(STUDY),"$$STUDY")

numbers: .venv/installed  ## 0 | marked numbers in documents, as the tables have them now
	.venv/bin/python -I publication/marks.py --write

article: .venv-article/installed  ## 0 | report and technical note: publication/*.pdf
	.venv-article/bin/python -I publication/build.py

publication: .venv/kernels  ## 2 | summary picture; results/paper/everything.html has all
	$(SNAKEMAKE) --snakefile publication/Snakefile
	$(SNAKEMAKE) --snakefile publication/Snakefile --report results/paper/everything.html

bench: .venv/kernels  ## 1 | the engine's speed beside NumPy's and plain Python's
	.venv/bin/python benchmarks/engine.py

lock: .venv/installed  ## 1 | resolve pyproject.toml again
	sh tools/packages.sh lock

clean:  ## 0 | remove results; git clean -dfX removes all that is ignored
	rm -rf results .snakemake

# Made from scratch when the lock changes, so that nothing of an older one stays behind, and in a
# clone that was moved or copied, since .venv names its place.
ANEW := $(shell pwd -P | cmp -s - .venv/place && .venv/bin/python -c '' || echo anew)
.PHONY: $(ANEW)
.venv/locked: requirements.lock $(ANEW)
	PYTHON='$(PYTHON)' sh tools/packages.sh users
	touch $@

.venv/installed: .venv/locked pyproject.toml
	sh tools/packages.sh package
	touch $@

.venv/developed: requirements-dev.lock .venv/installed
	sh tools/packages.sh developers
	touch $@

# Packages that typeset documents, which nothing else needs.
.venv-article/installed: publication/requirements.lock $(ANEW)
	$(PYTHON) -m venv --clear .venv-article
	.venv-article/bin/python -P -m pip --disable-pip-version-check --quiet install \
	    --require-hashes -r publication/requirements.lock
	touch $@

# Kernels are compiled before jobs start side by side, since each job would compile them.
.venv/kernels: .venv/installed $(wildcard src/pgpd_hf/*.py)
	.venv/bin/python tools/compile_kernels.py
	touch $@
