# What the theorems promise, measured: sweeps and schedules, beyond the default study.
# `snakemake theory` makes them.


rule run_sweep:
    input:
        script="workflow/scripts/run_sweep.py",
        sources=lambda wildcards: sources(
            "studies/configuration", "analyses/sweeps", "support/storage", f"algorithms/{wildcards.algorithm}"
        ),
        environment=f"{RESULTS}/environment.npz",
        steps=lambda wildcards: calibration_of(wildcards.algorithm),
    output:
        f"{RESULTS}/sweeps/{{sweep}}/{{algorithm}}/seeds{{first}}-{{last}}.parquet",
    log:
        f"{RESULTS}/logs/sweeps/{{sweep}}/{{algorithm}}/seeds{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/sweeps/{{sweep}}/{{algorithm}}/seeds{{first}}-{{last}}.tsv"
    resources:
        runtime=runtime("run_sweep"),
        mem_mb=memory("run_sweep"),
    params:
        study=lambda wildcards: theory_part(sweep=config["sweeps"][wildcards.sweep]),
        steps=steps_option,
    message:
        "sweep {wildcards.sweep}: {wildcards.algorithm}, "
        "seeds {wildcards.first} to {wildcards.last}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --sweep {wildcards.sweep:q} --algorithm {wildcards.algorithm:q}"
        " --seeds {wildcards.first:q} {wildcards.last:q} {params.steps:q}"
        " --output {output:q} >{log:q} 2>&1"


rule run_schedules:
    input:
        script="workflow/scripts/run_schedules.py",
        sources=lambda wildcards: sources(
            "studies/configuration", "analyses/schedules", "support/storage", f"algorithms/{wildcards.algorithm}"
        ),
        environment=f"{RESULTS}/environment.npz",
        steps=lambda wildcards: calibration_of(wildcards.algorithm),
    output:
        f"{RESULTS}/schedules/{{algorithm}}/seeds{{first}}-{{last}}.parquet",
    log:
        f"{RESULTS}/logs/schedules/{{algorithm}}/seeds{{first}}-{{last}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/schedules/{{algorithm}}/seeds{{first}}-{{last}}.tsv"
    resources:
        runtime=runtime("run_schedules"),
        mem_mb=memory("run_schedules"),
    params:
        study=theory_part(schedules=config["schedules"]),
        steps=steps_option,
    message:
        "schedules: {wildcards.algorithm}, seeds {wildcards.first} to {wildcards.last}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q}"
        " --seeds {wildcards.first:q} {wildcards.last:q} {params.steps:q}"
        " --output {output:q} >{log:q} 2>&1"


use rule figures as slopes with:
    input:
        script="workflow/scripts/notebook.py",
        template="workflow/templates/page/index.html.j2",
        notebook="notebooks/slopes.ipynb",
        sources=sources("figures/sweeps", "analyses/summaries"),
        runs=sweep_files("length", "corollary"),
        environment=f"{RESULTS}/environment.npz",
    output:
        means=f"{RESULTS}/slopes_means.csv",
        table=report(
            f"{RESULTS}/slopes.csv",
            caption="../report/slopes.rst",
            category="Theory",
            labels={"result": "Slopes in T (table)"},
        ),
        notebook=f"{RESULTS}/notebooks/slopes.ipynb",
        page=report(
            f"{RESULTS}/notebooks/slopes.html",
            caption="../report/slopes.rst",
            category="Theory",
            labels={"result": "Slopes in T"},
        ),
    log:
        notebook=f"{RESULTS}/logs/notebooks/slopes.ipynb",
        messages=f"{RESULTS}/logs/notebooks/slopes.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/slopes.tsv"
    params:
        parameters=lambda wildcards, input, output: json.dumps(
            {
                "results": os.path.dirname(output.table),
                "link": config["link"],
                "runs": input.runs,
            }
        ),
    message:
        "Slopes in T, with floors removed or fitted"


use rule slopes as effects with:
    input:
        script="workflow/scripts/notebook.py",
        template="workflow/templates/page/index.html.j2",
        notebook="notebooks/effects.ipynb",
        sources=sources("theory/predictions", "figures/sweeps", "analyses/summaries"),
        runs=sweep_files("people", "horizon", "pairs", "states", "actions"),
        environment=f"{RESULTS}/environment.npz",
    output:
        means=f"{RESULTS}/effects_means.csv",
        table=report(
            f"{RESULTS}/effects.csv",
            caption="../report/effects.rst",
            category="Theory",
            labels={"result": "Effects of M, H, N, |S| and |A| (table)"},
        ),
        notebook=f"{RESULTS}/notebooks/effects.ipynb",
        page=report(
            f"{RESULTS}/notebooks/effects.html",
            caption="../report/effects.rst",
            category="Theory",
            labels={"result": "Effects of M, H, N, |S| and |A|"},
        ),
    log:
        notebook=f"{RESULTS}/logs/notebooks/effects.ipynb",
        messages=f"{RESULTS}/logs/notebooks/effects.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/effects.tsv"
    message:
        "Effects of M, H, N, |S| and |A|"


use rule slopes as schedules with:
    input:
        script="workflow/scripts/notebook.py",
        template="workflow/templates/page/index.html.j2",
        notebook="notebooks/schedules.ipynb",
        sources=sources("figures/sweeps", "analyses/summaries"),
        runs=schedule_files(),
        environment=f"{RESULTS}/environment.npz",
    output:
        means=f"{RESULTS}/schedules_means.csv",
        table=report(
            f"{RESULTS}/schedules.csv",
            caption="../report/schedules.rst",
            category="Theory",
            labels={"result": "Schedules of M and H (table)"},
        ),
        notebook=f"{RESULTS}/notebooks/schedules.ipynb",
        page=report(
            f"{RESULTS}/notebooks/schedules.html",
            caption="../report/schedules.rst",
            category="Theory",
            labels={"result": "Schedules of M and H"},
        ),
    log:
        notebook=f"{RESULTS}/logs/notebooks/schedules.ipynb",
        messages=f"{RESULTS}/logs/notebooks/schedules.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/schedules.tsv"
    message:
        "Fewer people and shorter trajectories first, at equal cost"
