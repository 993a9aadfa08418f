# `make environments`: the verdicts of the studies of config/environments, which are studies of their
# own, in one table, once they have been run. The verdicts of the hard case, which has the same N and T
# and hundreds of seeds, are those on record.
rule environments:
    input:
        claims=CLAIMS,
        hard=PROJECT / "reference/hard/verdicts.csv",
        verdicts=expand("results/{study}/claims.csv", study=KNOWN),
        curves=[
            PROJECT / "reference/hard/curves.csv",
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
