# What the theorems promise, measured: sweeps and schedules, beyond the default study.
# `snakemake theory` makes them.


rule run_sweep:
    input:
        script="workflow/scripts/run_sweep.py",
        sources=lambda wildcards: sources(
            "configuration", "sweeps", "storage", f"algorithms/{wildcards.algorithm}"
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
        steps=lambda wildcards, input: f"--steps {input.steps}" if input.steps else "",
    message:
        "sweep {wildcards.sweep}: {wildcards.algorithm}, "
        "seeds {wildcards.first} to {wildcards.last}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --sweep {wildcards.sweep:q} --algorithm {wildcards.algorithm:q}"
        " --seeds {wildcards.first} {wildcards.last} {params.steps}"
        " --output {output:q} >{log:q} 2>&1"


rule run_schedules:
    input:
        script="workflow/scripts/run_schedules.py",
        sources=lambda wildcards: sources(
            "configuration", "schedules", "storage", f"algorithms/{wildcards.algorithm}"
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
        steps=lambda wildcards, input: f"--steps {input.steps}" if input.steps else "",
    message:
        "schedules: {wildcards.algorithm}, seeds {wildcards.first} to {wildcards.last}"
    shell:
        "python {input.script:q} --environment {input.environment:q} --study {params.study:q}"
        " --algorithm {wildcards.algorithm:q}"
        " --seeds {wildcards.first} {wildcards.last} {params.steps}"
        " --output {output:q} >{log:q} 2>&1"


rule slopes:
    input:
        notebook="notebooks/slopes.ipynb",
        sources=sources("sweep_figures", "summaries"),
        runs=sweep_files("length", "corollary"),
        environment=f"{RESULTS}/environment.npz",
    output:
        means=f"{RESULTS}/slopes_means.csv",
        table=f"{RESULTS}/slopes.csv",
        notebook=f"{RESULTS}/notebooks/slopes.ipynb",
        page=f"{RESULTS}/notebooks/slopes.html",
    log:
        notebook=f"{RESULTS}/logs/notebooks/slopes.ipynb",
        messages=f"{RESULTS}/logs/notebooks/slopes.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/slopes.tsv"
    resources:
        runtime=runtime("slopes"),
        mem_mb=memory("slopes"),
    params:
        results=lambda wildcards, output: os.path.dirname(output.table),
        link=config["link"],
    message:
        "Slopes in T, with floors removed or fitted"
    shell:
        "(papermill {input.notebook:q} {log.notebook:q} --no-progress-bar"
        " -r results {params.results:q} -r link {params.link:q} -r runs '{input.runs}'"
        " && jupyter nbconvert --to html --output-dir $(dirname {output.page:q}) {log.notebook:q}"
        " && cp {log.notebook:q} {output.notebook:q}) >{log.messages:q} 2>&1"


rule effects:
    input:
        notebook="notebooks/effects.ipynb",
        sources=sources("effects", "sweep_figures", "summaries"),
        runs=sweep_files("people", "horizon", "pairs", "states", "actions"),
        environment=f"{RESULTS}/environment.npz",
    output:
        means=f"{RESULTS}/effects_means.csv",
        table=f"{RESULTS}/effects.csv",
        notebook=f"{RESULTS}/notebooks/effects.ipynb",
        page=f"{RESULTS}/notebooks/effects.html",
    log:
        notebook=f"{RESULTS}/logs/notebooks/effects.ipynb",
        messages=f"{RESULTS}/logs/notebooks/effects.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/effects.tsv"
    resources:
        runtime=runtime("effects"),
        mem_mb=memory("effects"),
    params:
        results=lambda wildcards, output: os.path.dirname(output.table),
        link=config["link"],
    message:
        "Effects of M, H, N, |S| and |A|"
    shell:
        "(papermill {input.notebook:q} {log.notebook:q} --no-progress-bar"
        " -r results {params.results:q} -r link {params.link:q} -r runs '{input.runs}'"
        " && jupyter nbconvert --to html --output-dir $(dirname {output.page:q}) {log.notebook:q}"
        " && cp {log.notebook:q} {output.notebook:q}) >{log.messages:q} 2>&1"


rule schedules:
    input:
        notebook="notebooks/schedules.ipynb",
        sources=sources("sweep_figures", "summaries"),
        runs=schedule_files(),
        environment=f"{RESULTS}/environment.npz",
    output:
        means=f"{RESULTS}/schedules_means.csv",
        table=f"{RESULTS}/schedules.csv",
        notebook=f"{RESULTS}/notebooks/schedules.ipynb",
        page=f"{RESULTS}/notebooks/schedules.html",
    log:
        notebook=f"{RESULTS}/logs/notebooks/schedules.ipynb",
        messages=f"{RESULTS}/logs/notebooks/schedules.log",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/schedules.tsv"
    resources:
        runtime=runtime("schedules"),
        mem_mb=memory("schedules"),
    params:
        results=lambda wildcards, output: os.path.dirname(output.table),
        link=config["link"],
    message:
        "Fewer people and shorter trajectories first, at equal cost"
    shell:
        "(papermill {input.notebook:q} {log.notebook:q} --no-progress-bar"
        " -r results {params.results:q} -r link {params.link:q} -r runs '{input.runs}'"
        " && jupyter nbconvert --to html --output-dir $(dirname {output.page:q}) {log.notebook:q}"
        " && cp {log.notebook:q} {output.notebook:q}) >{log.messages:q} 2>&1"
