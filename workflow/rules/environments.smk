# `make environments`: what the runs of Figure 1 have learned, as pictures, and the verdicts of the
# studies of config/environments, which are studies of their own, in one table.


use rule figure as policies with:
    input:
        code=code("policies.ipynb", *algorithm_files()),
        environment=f"{RESULTS}/environment.npz",
        policies=policies_of(""),
        traces=traces(""),
    output:
        [
            picture
            for name in evaluator_groups("")
            for picture in pictures(f"policies_M{name}", f"Policies, M = {name}", "", "Policies")
        ],
        notebook=f"{RESULTS}/notebooks/policies.ipynb",
        page=page("policies", "Policies", category="Policies"),
    log:
        messages=f"{RESULTS}/logs/notebooks/policies.log",
        notebook=f"{RESULTS}/logs/notebooks/policies.ipynb",
    benchmark:
        f"{RESULTS}/benchmarks/notebooks/policies.tsv"
    params:
        parameters={
            "study": STUDY,
            "results": RESULTS,
            "figures": FIGURES,
            "policies": policies_of(""),
            "evaluators": {name: numbers[0] for name, numbers in evaluator_groups("").items()},
        },
    message:
        "What the runs have learned"


# Once those studies have been run. The verdicts of the default study, with hundreds of seeds, are
# those on record.
rule environments:
    input:
        code=code("environments.py"),
        claims=CLAIMS,
        default="reference/verdicts.csv",
        verdicts=expand("results/{study}/claims.csv", study=KNOWN),
        curves=[
            "reference/curves.csv",
            *expand("results/{study}/aggregate.parquet", study=KNOWN),
        ],
    output:
        table="results/environments/environments.csv",
        pictures=expand("results/environments/figures/environments.{ending}", ending=FORMATS),
    log:
        "results/environments/logs/environments.log",
    localrule: True
    params:
        studies=KNOWN,
    message:
        "Verdicts on well-known environments"
    script:
        "../scripts/environments.py"
