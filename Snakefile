# Policy gradient primal-dual methods for safe RL from human feedback, replicated.
# `snakemake` makes everything of the study that config/config.yaml describes.

from snakemake.utils import min_version

from replication.files import validation

min_version("9.27")

with validation.one_line("config", ValueError):
    validation.read("config/config.yaml")


configfile: "config/config.yaml"


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
include: "workflow/rules/theory.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/inference.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/cluster.smk"


rule all:
    default_target: True
    input:
        # Intermediate results, so that one that was deleted is made again.
        rules.aggregate.output,
        RUNS,
        MAIN,
        rules.provenance.output,
    message:
        "Default results complete"


# What `make verify` runs again, for one seed.
rule sample:
    input:
        RUNS,
        BOUND_TABLES,
    message:
        "Inputs of `make verify` complete"


rule theory:
    input:
        rules.bounds.output,
        rules.corrected.output,
        rules.certificates.output if CERTIFICATE_TABLES else [],
        analysis_outputs("theory"),
    message:
        "Bounds, corrected theorems, certificates, slopes, effects and schedules complete"


rule compare:
    input:
        analysis_outputs("compare"),
    message:
        "Methods are compared per human answer"


onstart:
    take_folder()
    lift_job_rate()
    if workflow.executor_plugin.name == "slurm":
        consult_slurm()


onsuccess:
    summary = Path(rules.summary.output[0])
    if summary.exists():
        print("", summary.read_text(encoding="utf-8"), sep="\n")
