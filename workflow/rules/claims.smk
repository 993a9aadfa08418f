# {folder} is that of a reading, of a group of random instances ("instances/GROUP/"), empty for the
# study itself, or "full/": once more with more seeds, and with the tables of the theory's sweeps.
# The statements are about the paper's algorithms, whatever the study has.
JUDGED_FILES = {
    "claims": CLAIMS,
    "own": config["claims"]["statements"],
    "schema": CLAIMS_SCHEMA,
    "environment": unless_many(environment_of),
    "optimum": unless_many(optimum_of),
    "traces": lambda wildcards: judged_traces(wildcards.folder),
    "tables": lambda wildcards: judged_tables(wildcards.folder),
}


rule verdicts:
    input:
        **JUDGED_FILES,
        code=code("judge.py", environment_module(), *algorithm_files(*PAPER_ALGORITHMS)),
    output:
        verdicts=f"{RESULTS}/{{folder}}claims.csv",
        power=f"{RESULTS}/{{folder}}power.csv",
    log:
        f"{RESULTS}/logs/verdicts/{{folder}}claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/verdicts/{{folder}}claims.tsv"
    resources:
        runtime=runtime(resources.ANALYSIS),
        mem_mb=memory(more=ROWS),
    params:
        look=lambda wildcards: readings.look(READINGS, wildcards.folder),
        groups=lambda wildcards: instances.environments(config, wildcards.folder),
    message:
        "{wildcards.folder}verdicts"
    script:
        "../scripts/judge.py"


rule ties:
    input:
        code=code("ties.py", *algorithm_files(*PAPER_ALGORITHMS)),
        claims=CLAIMS,
        own=config["claims"]["statements"],
        schema=CLAIMS_SCHEMA,
        environment=environment_of(""),
        optimum=optimum_of(""),
        traces=traces(readings.FULL),
        tied=analysis_runs("ties"),
        verdicts=f"{RESULTS}/{readings.FULL}claims.csv",
    output:
        for_report(f"{RESULTS}/ties.csv", "Tied step sizes (table)", "verdicts", "Verdicts"),
    log:
        f"{RESULTS}/logs/ties.log",
    benchmark:
        f"{RESULTS}/benchmarks/ties.tsv"
    resources:
        runtime=runtime(resources.ANALYSIS),
        mem_mb=memory(more=ROWS),
    message:
        "Verdicts under step sizes that are tied with the chosen ones"
    script:
        "../scripts/ties.py"


rule verdict_table:
    input:
        code=code("verdict_table.py"),
        tables=expand(f"{RESULTS}/{{folder}}claims.csv", folder=JUDGED),
        powers=expand(f"{RESULTS}/{{folder}}power.csv", folder=JUDGED),
        confirmation=CONFIRMED,
    output:
        table=for_report(f"{RESULTS}/verdicts.csv", "All readings (table)", "verdicts", "Verdicts"),
        power=f"{RESULTS}/verdicts_power.csv",
        text=f"{RESULTS}/verdicts.txt",
    log:
        f"{RESULTS}/logs/verdict_table.log",
    benchmark:
        f"{RESULTS}/benchmarks/verdict_table.tsv"
    localrule: True
    params:
        titles=list(JUDGED.values()),
    message:
        "All verdicts in one table"
    script:
        "../scripts/verdict_table.py"


use rule figure as claims_notebook with:
    input:
        code=code("claims.ipynb", *algorithm_files(*PAPER_ALGORITHMS)),
        table=rules.verdict_table.output.table,
        optimum=f"{RESULTS}/optimum.json",
        environment=f"{RESULTS}/environment.npz",
        claims=CLAIMS,
        own=config["claims"]["statements"],
        schema=CLAIMS_SCHEMA,
        sensitivity=analysis_runs("sensitivity"),
        ties=rules.ties.output,
        power=rules.verdict_table.output.power,
        confirmation=CONFIRMED,
    output:
        pictures("claims_headline", "Statements about the figure", "verdicts", "Verdicts"),
        pictures("claims", "All readings", "verdicts", "Verdicts"),
        notebook=f"{RESULTS}/notebooks/claims.ipynb",
        page=page("claims", "Notebook: what the verdicts depend on", "verdicts_page", "Verdicts"),
    log:
        messages=f"{RESULTS}/logs/notebooks/claims.log",
        notebook=f"{RESULTS}/logs/notebooks/claims.ipynb",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/claims.tsv"
    params:
        parameters={
            "results": RESULTS,
            "figures": FIGURES,
            "claims": CLAIMS,
            "own": config["claims"]["statements"],
            "schema": CLAIMS_SCHEMA,
            "readings": {reading["title"]: reading["about"] for reading in READINGS.values()},
            "sharing": [
                reading["title"] for reading in READINGS.values() if not reading["config"]
            ],
            "headline": [
                reading["title"] for reading in READINGS.values() if reading.get("headline")
            ],
            "sensitivity": analysis_runs("sensitivity"),
            "confirmation": CONFIRMED,
        },
    message:
        "The matrix of verdicts, and what it says"


# Has no output, so that it prints the table whenever it is asked for.
rule claims:
    input:
        text=rules.verdict_table.output.text,
        notebook=rules.claims_notebook.output,
    log:
        f"{RESULTS}/logs/claims.log",
    localrule: True
    message:
        "Verdicts on the paper's statements"
    shell:
        "tee {log:q} <{input.text:q}"
