# Policy gradient primal-dual methods for safe RL from human feedback, replicated.
# `snakemake` makes everything of the study that config/config.yaml describes.

import sys

from snakemake.utils import min_version

from pgpd_hf.studies import configuration

min_version("9.27")

try:
    DEFAULTS = configuration.read("config/config.yaml")
except ValueError as error:
    sys.exit(f"config: {error}")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


settle_config()
if workflow.is_main_process:
    check_folders()


include: "workflow/rules/cases.smk"


wildcard_constraints:
    case="|readings/[a-z0-9-]+/",
    group="[a-z]+",
    algorithm=r"\w+",
    first=r"\d+",
    last=r"\d+",


include: "workflow/rules/environment.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/notebooks.smk"
include: "workflow/rules/instances.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/proofs.smk"
include: "workflow/rules/sweeps.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/grid.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/cluster.smk"


rule all:
    default_target: True
    input:
        # Results that others are made from, so that one that was deleted comes back, too.
        rules.aggregate.output,
        traces(""),
        optimum_of(""),
        calibrations(),
        rules.figures.output,
        rules.rates.output,
        f"{RESULTS}/claims.csv",
        rules.bounds.output,
        rules.summary.output,
        rules.provenance.output,
    message:
        "Everything is there"


# What `make verify` runs again, for one seed.
rule sample:
    input:
        environment_of(""),
        optimum_of(""),
        calibrations(),
        expand(rules.bound.output, setting=config["bounds"]["settings"]),
        traces(""),
    message:
        "What can be checked without the whole study is there"


rule theory:
    input:
        rules.bounds.output,
        rules.certificates.output,
        rules.slopes.output,
        rules.effects.output,
        rules.schedules.output,
    message:
        "Bounds, certificates, slopes, effects and schedules are there"


onstart:
    take_folder()
    if workflow.executor_plugin.name == "slurm":
        consult_slurm()


onsuccess:
    summary = Path(rules.summary.output[0])
    if summary.exists():
        print("", summary.read_text(encoding="utf-8"), sep="\n")
