"""Put the verdicts of the studies of environments into one table, and draw their matrix."""

from pathlib import Path

from replication.figures import environments, style
from replication.files import storage, validation

with storage.job(snakemake):
    source, target = snakemake.input, snakemake.output
    default = storage.read_table(source.default)
    verdicts = [default[default["reading"] == environments.DEFAULT]]
    verdicts += map(storage.read_table, source.verdicts)
    pairs = zip(verdicts, map(storage.read_table, source.curves), strict=True)
    names = [environments.DEFAULT, *snakemake.params.studies]
    statements = validation.read_yaml(source.claims)["claims"]
    table = environments.collect(dict(zip(names, pairs, strict=True)), statements)
    storage.write_table(target.table, table[table["study"] != environments.DEFAULT])
    style.plt.switch_backend("agg")  # no windows
    style.use_style()
    style.save(environments.matrix(table), Path(target.pictures[0]).parent, "environments")
