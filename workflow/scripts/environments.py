"""Put the verdicts of the studies of environments into one table, and draw their matrix."""

from pathlib import Path

from replication.figures import environments, style
from replication.files import storage, validation

with storage.job(snakemake):
    source, target = snakemake.input, snakemake.output
    hard = storage.read_table(source.hard)
    verdicts = [hard[hard["reading"] == "default"]]
    verdicts += map(storage.read_table, source.verdicts)
    pairs = zip(verdicts, map(storage.read_table, source.curves), strict=True)
    names = [environments.HARD, *snakemake.params.studies]
    statements = validation.read_yaml(source.claims)["claims"]
    table = environments.collect(dict(zip(names, pairs, strict=True)), statements)
    storage.write(target.table, table[table["study"] != environments.HARD])
    style.plt.switch_backend("agg")  # no windows
    style.use_style()
    style.save(environments.matrix(table), Path(target.pictures[0]).parent, "environments")
