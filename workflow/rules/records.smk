# What an experiment was made with, and how it ended.


rule provenance:
    """Versions, kind of machine, commit and configuration."""
    input:
        script=f"{SCRIPTS}/provenance.py",
        results=[rules.figure.output.page, rules.rates_page.output.page if RATED else []],
        files=OWN_FILES.values(),
        aggregate="<results>/aggregate.csv",
    output:
        "<results>/provenance.json",
    log:
        "<logs>/provenance.log",
    localrule: True
    params:
        config=json.dumps(config, sort_keys=True),
        content=digests(OWN_FILES.values()),
    shell:
        "python -I {input.script:q} --config {params.config:q} --files {input.files:q}"
        " --aggregate {input.aggregate} --record {output} >{log} 2>&1"


rule summary:
    """How the experiment ended."""
    input:
        script=f"{SCRIPTS}/summary.py",
        default=f"{DEFAULTS}/config.yaml",
        aggregate="<results>/aggregate.csv",
        optimum="<results>/optimum.json",
        environment="<results>/environment.npz",
        rates="<results>/rates.csv" if RATED else [],
        provenance="<results>/provenance.json",
        figure="<figures>/figure1.png",
        traces=rules.aggregate.input.traces,
    output:
        text=report("<results>/summary.txt", "../report/summary.rst", category="Summary"),
    log:
        "<logs>/summary.log",
    localrule: True
    params:
        own=json.dumps(OWN),
    shell:
        "python -I {input.script:q} --default {input.default:q} --aggregate {input.aggregate}"
        " --optimum {input.optimum} --environment {input.environment} --rates {input.rates}"
        " --provenance {input.provenance} --figure {input.figure} --own {params.own:q}"
        " --traces {input.traces} --text {output.text} >{log} 2>&1"
