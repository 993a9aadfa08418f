# Policy gradient primal-dual methods for safe reinforcement learning from human feedback.
# `snakemake --cores all` makes the experiment of config/config.yaml: its figure, its rates in T
# beside the theorems' bounds, and a summary.

import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")

# The package is found without being imported. Scripts and sources are those of its clone, wherever
# results go, and jobs use the Python that runs Snakemake.
PACKAGE = find_spec("pgpd_hf")
CLONE = PACKAGE and Path(PACKAGE.origin).resolve().parents[2]
if not (CLONE and (CLONE / "workflow/scripts/configuration.py").is_file()):
    sys.exit("error: pgpd_hf: a clone that pip install --editable has installed is needed")
if Path("src/pgpd_hf").is_dir() and not CLONE.samefile(os.curdir):
    sys.exit(f"error: pgpd_hf: installed from {CLONE}, not from here; activate .venv here")
SCRIPTS, NOTEBOOKS, LIBRARY, DEFAULTS = (
    os.path.relpath(CLONE / name)
    for name in ("workflow/scripts", "notebooks", "src/pgpd_hf", "config")
)
# A file beside the Snakefile, say yaml.py, is not imported in place of a package.
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != CLONE]
os.environ.update(PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


configfile: f"{CLONE}/config/config.yaml"


try:
    CONFIGURATION = runpy.run_path(f"{CLONE}/workflow/scripts/configuration.py")
    FOLDER = CONFIGURATION["check"](config, workflow.configfiles)
    folder = Path("results", config["name"])
    for place in ("results", folder, folder / "runs", folder / "logs"):
        if Path(place).is_file():
            raise ValueError(f"{place}: a folder expected, got a file")
except ValueError as error:
    sys.exit(f"error: {error}")


pathvars:
    results=f"results/{config['name']}",
    figures="figures" if config["name"] == "paper" else f"results/{config['name']}/figures",
    logs=f"results/{config['name']}/logs",


report: "workflow/report/experiment.rst"


# Lint asks for an image. Nothing makes this file, so do not run with --sdm apptainer.
container: "pgpd-hf.sif"


include: "workflow/rules/common.smk"
include: "workflow/rules/figure.smk"
include: "workflow/rules/rates.smk"
include: "workflow/rules/records.smk"


rule all:
    """Everything: the figure, rates, what they were made with and from, and the summary."""
    default_target: True
    input:
        rules.environment.output,
        rules.aggregate.input.traces,
        collect("<results>/policies/{run}.npz", run=run_names()),
        rules.aggregate.output,
        rules.figure.output,
        [rules.rates_table.input.traces, rules.rates_table.output] if RATED else [],
        rules.rates_page.output if RATED else [],
        rules.provenance.output,
        rules.summary.output,


onsuccess:
    told, made = Path(rules.summary.output.text), Path(rules.aggregate.output.table)
    if told.exists() and made.exists() and told.stat().st_mtime >= made.stat().st_mtime:
        print(told.read_text(encoding="utf-8"))
