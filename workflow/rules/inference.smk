# Which N the statements of the experiment speak for: `make infer`. The study is config/inference.yaml,
# whose readings and groups of instances differ in N alone.


rule resample:
    input:
        **JUDGED_FILES,
        code=code("resample.py", environment_module(), *algorithm_files(*PAPER_ALGORITHMS)),
    output:
        f"{RESULTS}/{{folder}}resampled.csv",
    log:
        f"{RESULTS}/logs/resample/{{folder}}resampled.log",
    benchmark:
        f"{RESULTS}/benchmarks/resample/{{folder}}resampled.tsv"
    resources:
        runtime=runtime(resources.ANALYSIS),
        mem_mb=memory(more=ROWS),
    params:
        look=lambda wildcards: readings.look(READINGS, wildcards.folder),
        groups=lambda wildcards: instances.environments(config, wildcards.folder),
        resamples=1000,
    message:
        "{wildcards.folder}verdicts on resampled units"
    script:
        "../scripts/resample.py"


rule inferred:
    input:
        code=code("infer.py"),
        verdicts=in_trials("claims"),
        resampled=in_trials("resampled"),
    output:
        f"{RESULTS}/inferred.csv",
    log:
        f"{RESULTS}/logs/inferred.log",
    benchmark:
        f"{RESULTS}/benchmarks/inferred.tsv"
    localrule: True
    params:
        rounds=[number for number, folders in TRIALS.items() for _ in folders],
    message:
        "The score of each N by the statements of the experiment"
    script:
        "../scripts/infer.py"


use rule figure as inference_notebook with:
    input:
        code=code("inference.ipynb", *algorithm_files(*PAPER_ALGORITHMS)),
        inferred=rules.inferred.output,
        verdicts=in_trials("claims"),
        runs=[file for files in trial_runs().values() for file in files],
    output:
        pictures("rounds", "Other N", "inference", "Inference"),
        notebook=f"{RESULTS}/notebooks/inference.ipynb",
        page=page("inference", "Which N is the paper's?", category="Inference"),
    log:
        messages=f"{RESULTS}/logs/notebooks/inference.log",
        notebook=f"{RESULTS}/logs/notebooks/inference.ipynb",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/inference.tsv"
    params:
        parameters={
            "results": RESULTS,
            "figures": FIGURES,
            "trials": {str(number): folders for number, folders in TRIALS.items()},
            "runs": trial_runs(),
        },
    message:
        "Which N is the paper's"


rule infer:
    input:
        rules.inferred.output,
        rules.verdict_table.output,
        rules.inference_notebook.output,
    message:
        "N is inferred"
