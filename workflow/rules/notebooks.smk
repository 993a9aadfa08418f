# Each notebook is run into its log, and copied from there when it has succeeded: of a failed one the
# log shows how far it came, and no output pretends to be a result. All are run by the command of
# `figures`, with what it asks for.


rule figures:
    input:
        script="workflow/scripts/notebook.py",
        template="workflow/templates/page/index.html.j2",
        notebook="notebooks/figure1.ipynb",
        sources=sources("figures/panels", "support/storage"),
        aggregate=f"{RESULTS}/aggregate.parquet",
        optimum=f"{RESULTS}/optimum.json",
    output:
        drawings(caption="../report/figure1.rst", category="Figure 1"),
        notebook=f"{RESULTS}/notebooks/figure1.ipynb",
        page=report(
            f"{RESULTS}/notebooks/figure1.html",
            caption="../report/figure1_page.rst",
            category="Figure 1",
            labels={"result": "Notebook: figure, optimum and final numbers"},
        ),
    log:
        notebook=f"{RESULTS}/logs/notebooks/figure1.ipynb",
        messages=f"{RESULTS}/logs/notebooks/figure1.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/figure1.tsv"
    resources:
        runtime=runtime("figures"),
        mem_mb=memory("figures"),
    params:
        parameters=lambda wildcards, input, output: json.dumps(
            {"results": os.path.dirname(input.optimum), "figures": os.path.dirname(output[0])}
        ),
    message:
        "Panels and Figure 1"
    shell:
        "python {input.script:q} {input.notebook:q} --parameters {params.parameters:q}"
        " --log {log.notebook:q} --notebook {output.notebook:q} --page {output.page:q}"
        " >{log.messages:q} 2>&1"


use rule figures as rates with:
    input:
        script="workflow/scripts/notebook.py",
        template="workflow/templates/page/index.html.j2",
        notebook="notebooks/rates.ipynb",
        sources=sources(
            "figures/theory", "analyses/rates", "studies/configuration", "theory/bounds", "theory/constants"
        ),
        traces=rate_traces(),
        environment=f"{RESULTS}/environment.npz",
    output:
        table=report(
            f"{RESULTS}/rates.csv",
            caption="../report/rates.rst",
            category="Theory",
            labels={"result": "Rates in T (table)"},
        ),
        notebook=f"{RESULTS}/notebooks/rates.ipynb",
        page=report(
            f"{RESULTS}/notebooks/rates.html",
            caption="../report/rates.rst",
            category="Theory",
            labels={"result": "Rates in T"},
        ),
    log:
        notebook=f"{RESULTS}/logs/notebooks/rates.ipynb",
        messages=f"{RESULTS}/logs/notebooks/rates.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/rates.tsv"
    params:
        parameters=lambda wildcards, input, output: json.dumps(
            {
                "results": os.path.dirname(output.table),
                "study": {key: config[key] for key in ("algorithms", "horizon", "link")},
                "traces": input.traces,
            }
        ),
    message:
        "Rates in T, beside the explicit bounds of both theorems"
