# Rates in T beside the theorems': runs of their own for each T, since step sizes depend on T.


# One algorithm, one M, one rule for the steps, one block of seeds; all T.
use rule runs as rates_runs with:
    output:
        trace="<results>/rates/{algorithm}/M{evaluators}/{step_rule}/seeds{first}-{last}.csv",
    log:
        "<logs>/rates/{algorithm}_M{evaluators}_{step_rule}_{first}-{last}.log",
    resources:
        runtime=lambda wildcards, attempt: attempt
        * minutes(sum(RATES["iterations"][wildcards.algorithm])),
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
    params:  # beside those of `runs`
        more=lambda wildcards: [
            f"--step-rule {wildcards.step_rule} --lengths",
            *RATES["iterations"][wildcards.algorithm],
        ],


rule rates_table:
    """Averages over the first T iterates beside the theorems' bounds, and slopes in T."""
    input:
        script=f"{SCRIPTS}/rates_table.py",
        code=ENGINE + sources("theory statistics"),
        environment="<results>/environment.npz",
        optimum="<results>/optimum.json",
        traces=collect(
            "<results>/rates/{algorithm}/M{evaluators}/{step_rule}/seeds{block}.csv",
            algorithm=RATED,
            evaluators=names(RATES["evaluators"]),
            step_rule=["study", "theorem"],
            block=blocks(RATES["seeds"]),
        ),
    output:
        slopes=report("<results>/rates.csv", "../report/table.rst", category="Tables"),
        averages=report("<results>/rates_averages.csv", "../report/table.rst", category="Tables"),
    log:
        "<logs>/rates_table.log",
    localrule: True
    params:
        options=json.dumps({name: options_of(name) for name in RATED}, sort_keys=True),
    shell:
        "python -I {input.script:q} {input.traces} --environment {input.environment}"
        " --optimum {input.optimum} --options {params.options:q} --slopes {output.slopes}"
        " --averages {output.averages} >{log} 2>&1"


rule rates_page:
    """The page about rates and bounds."""
    input:
        script=f"{SCRIPTS}/page.py",
        notebook=f"{NOTEBOOKS}/rates.ipynb",
        code=sources("figures tables"),
        slopes="<results>/rates.csv",
        averages="<results>/rates_averages.csv",
        environment="<results>/environment.npz",
    output:
        notebook="<results>/notebooks/rates.ipynb",
        page=report("<results>/notebooks/rates.html", "../report/page.rst", category="Pages"),
    log:
        "<logs>/rates_page.log",
    localrule: True
    shell:
        "python -I {input.script:q} {input.notebook:q} --executed {output.notebook}"
        " --page {output.page} --parameters slopes={input.slopes} averages={input.averages}"
        " environment={input.environment} >{log} 2>&1"
