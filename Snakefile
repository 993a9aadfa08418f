# Policy gradient primal-dual methods for safe RL from human feedback, replicated.
# `snakemake` makes everything of the study that config/config.yaml describes.

import sys
from pathlib import Path

from snakemake.utils import min_version

from replication.files import validation

min_version("9.27")

# The project's own files, as the working directory reaches them: results may be made elsewhere.
PROJECT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True))
if not PROJECT.is_dir():
    sys.exit(f"error: {PROJECT}: a clone of the project expected, whose files are read")
source = Path(validation.__file__).parents[2]
if source.resolve() != (PROJECT / "src").resolve():
    sys.exit(f"error: {PROJECT}: its own package expected, got {source}; activate its .venv")
if workflow.modifier.is_main_snakefile() and PROJECT.samefile("."):
    PROJECT = Path()
if "{" in str(PROJECT):  # Snakemake would take what follows for a wildcard
    sys.exit(f"error: {PROJECT}: a project with a brace in its path runs only in its own folder")
with validation.one_line(ValueError):
    validation.read(PROJECT / "config/config.yaml")


configfile: PROJECT / "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/jobs.smk"
include: "workflow/rules/files.smk"


wildcard_constraints:
    reading="|full/|readings/[a-z0-9-]+/",
    folder="|full/|readings/[a-z0-9-]+/|instances/[a-z]+/",
    analysis="|".join(ANALYSES),
    part=r"\w+(/\w+)*",
    algorithm=r"\w+",
    first=r"\d+",
    last=r"\d+",


include: "workflow/rules/figure1.smk"
include: "workflow/rules/environments.smk"
include: "workflow/rules/analyses.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/cluster.smk"


for target, files in {
    "all": [RUNS, MAIN, rules.provenance.output],  # also what is made on the way
    "theory": [rules.bounds.output, analysis_outputs("theory")],
    "claims": asked("claims"),
    "compare": asked("compare"),
    "compare_axes": asked("compare_axes"),
    "infer": [analysis_outputs("infer"), rules.verdict_table.output],
    "reported": REPORTED,
    "sample": [RUNS, BOUNDS],  # what `make verify` runs again, for one seed
}.items():

    rule:
        name:
            target
        default_target: target == "all"
        input:
            files,
        message:
            f"Complete: {target}"


onstart:
    refuse_folder()
    take_folder()
    lift_job_rate()
    if workflow.executor_plugin.name == "slurm":
        consult_slurm()
