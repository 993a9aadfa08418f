# What a reader gets: the default study, and what else has been made.

# The runs of the study itself, and what they are made from.
RUNS = [
    environment_of(""),
    environment_of("", "optimum.json"),
    *calibrations().values(),
    *calibrations("json").values(),
    traces(""),
]
# What the default study ends in.
MAIN = [analysis_outputs("all"), f"{RESULTS}/claims.csv"]


rule provenance:
    input:
        results=MAIN,
    output:
        provenance=for_report(
            f"{RESULTS}/provenance.json", "Versions, machine, commit and time", "provenance"
        ),
        config=for_report(f"{RESULTS}/config.yaml", "Configuration", "provenance"),
    log:
        f"{RESULTS}/logs/provenance.log",
    localrule: True
    params:
        config=config,
        benchmarks=lambda wildcards: benchmarks_of("provenance"),
        made=lambda wildcards: made_before("provenance"),
    message:
        "Versions, machine, commit, configuration and wall time"
    script:
        "../scripts/provenance.py"


# What is in Snakemake's report: this, and what of the analyses has been made before.
FURTHER = [*analysis_outputs("claims"), *analysis_outputs("theory")]
REPORTED = [MAIN, rules.provenance.output, *(it for it in FURTHER if all(map(os.path.exists, it)))]


rule crate:
    input:
        project=project_files(),
        configuration=f"{RESULTS}/config.yaml",
        provenance=f"{RESULTS}/provenance.json",
        results=[REPORTED, RUNS],
    output:
        f"{RESULTS}/crate.zip",
    log:
        f"{RESULTS}/logs/crate.log",
    localrule: True
    params:
        study=STUDY,
        made=lambda wildcards: made_before("crate"),
    message:
        "Workflow, configuration and results as an RO-Crate"
    script:
        "../scripts/crate.py"
