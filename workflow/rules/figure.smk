# From the environment to the figure.


rule environment:
    """The environment and its optimum, found in two independent ways."""
    input:
        script=f"{SCRIPTS}/environment.py",
        code=sources("arrays cmdp costs environments optimum streams"),
        file=OWN_ENVIRONMENT,
    output:
        environment="<results>/environment.npz",
        optimum="<results>/optimum.json",
    log:
        "<logs>/environment.log",
    localrule: True
    params:
        environment=json.dumps(config["environment"], sort_keys=True),
        folder=FOLDER if OWN_ENVIRONMENT else os.curdir,
        content=digests(OWN_ENVIRONMENT),
    shell:
        "python -I {input.script:q} --settings {params.environment:q} --folder {params.folder:q}"
        " --environment {output.environment} --optimum {output.optimum} >{log} 2>&1"


rule runs:
    """One algorithm, one M, one block of at most ten seeds."""
    input:
        script=f"{SCRIPTS}/run.py",
        code=ENGINE,
        algorithm=own_sources,
        environment="<results>/environment.npz",
        optimum="<results>/optimum.json",
    output:
        trace="<results>/runs/{algorithm}/M{evaluators}/seeds{first}-{last}.csv",
        policies="<results>/policies/{algorithm}/M{evaluators}/seeds{first}-{last}.npz",
    log:
        "<logs>/runs/{algorithm}_M{evaluators}_{first}-{last}.log",
    resources:
        runtime=lambda wildcards, attempt: attempt
        * minutes(config["algorithms"][wildcards.algorithm]["iterations"]),
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
    params:
        options=lambda wildcards: json.dumps(options_of(wildcards.algorithm), sort_keys=True),
        iterations=lambda wildcards: config["algorithms"][wildcards.algorithm]["iterations"],
        purpose=config["purpose"],
        content=lambda wildcards: digests(own_sources(wildcards)),
        more=lambda wildcards, output: f"--policies {output.policies}",
    shell:
        "python -I {input.script:q} --environment {input.environment} --optimum {input.optimum}"
        " --algorithm {wildcards.algorithm} --options {params.options:q}"
        " --evaluators {wildcards.evaluators} --iterations {params.iterations}"
        " --seeds {wildcards.first} {wildcards.last} --purpose {params.purpose}"
        " --trace {output.trace} {params.more} >{log} 2>&1"


rule aggregate:
    """Means over seeds, with intervals."""
    input:
        script=f"{SCRIPTS}/aggregate.py",
        code=sources("statistics tables"),
        traces=collect("<results>/runs/{run}.csv", run=run_names()),
    output:
        table=report("<results>/aggregate.csv", "../report/table.rst", category="Tables"),
    log:
        "<logs>/aggregate.log",
    localrule: True
    shell:
        "python -I {input.script:q} {input.traces} --table {output.table} >{log} 2>&1"


rule figure:
    """The panels, their numbers, the figure and its page."""
    input:
        script=f"{SCRIPTS}/page.py",
        notebook=f"{NOTEBOOKS}/figure1.ipynb",
        code=sources("figures tables"),
        aggregate="<results>/aggregate.csv",
        optimum="<results>/optimum.json",
    output:
        collect(
            "<figures>/{algorithm}_{metric}.{ending}",
            algorithm=config["algorithms"],
            metric=["optimality_gap", "constraint_violation"],
            ending=["pdf", "svg", "png", "csv"],
        ),
        multiext("<figures>/figure1", ".pdf", ".svg"),
        report("<figures>/figure1.png", "../report/figure.rst", category="Figure 1"),
        notebook="<results>/notebooks/figure1.ipynb",
        page=report("<results>/notebooks/figure1.html", "../report/page.rst", category="Pages"),
    log:
        "<logs>/figure1.log",
    localrule: True
    params:
        name=config["name"],
        folder=lambda wildcards, output: os.path.dirname(output[0]),
    shell:
        "python -I {input.script:q} {input.notebook:q} --executed {output.notebook}"
        " --page {output.page} --parameters name={params.name} aggregate={input.aggregate}"
        " optimum={input.optimum} folder={params.folder} >{log} 2>&1"
