"""Judge the statements under step sizes that a race could not tell from the chosen ones."""

import pandas as pd

from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.races import STEPS
from replication.files import storage, validation
from replication.statements import declaration, verdicts
from replication.statements.evidence import Evidence, Member

COLUMNS = ["algorithm", *STEPS, *"claim statement verdict chosen estimate low high".split()]

with storage.job(snakemake):
    source = snakemake.input
    cmdp, optimum = CMDP.load(source.environment), storage.read_json(source.optimum)
    declared = declaration.load_claims(
        source.claims, validation.read_yaml(source.schema), source.own
    )
    chosen = storage.read_table(source.verdicts).set_index("claim")["verdict"]
    traces = storage.read_traces(source.traces)
    tables = [pd.DataFrame(columns=COLUMNS)]
    tied = storage.read_traces(source.tied) if source.tied else pd.DataFrame({"algorithm": []})
    for algorithm, own in tied.groupby("algorithm"):
        others = traces[traces["algorithm"] != algorithm]
        about = {
            name: claim
            for name, claim in declared["claims"].items()
            if algorithm in (claim["criterion"].get("algorithm"), claim["criterion"].get("than"))
        }
        for steps, runs in own.groupby(list(STEPS)):
            together = pd.concat([runs[traces.columns], others])
            member = Member.on(cmdp, optimum["multiplier"], together)
            evidence = Evidence([member])
            table = verdicts.judge({**declared, "claims": about}, evidence)
            table = table[table["estimate"].notna() & (table["kind"] != "arithmetic")]
            steps = {"algorithm": algorithm, **dict(zip(STEPS, steps, strict=True))}
            tables.append(table.assign(**steps, chosen=table["claim"].map(chosen))[COLUMNS])
    storage.write_table(snakemake.output[0], pd.concat(tables, ignore_index=True))
