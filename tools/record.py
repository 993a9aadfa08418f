"""Write the tables of reference/ from results/paper; the figures are already where they belong."""

import json

from verify import CLONE, REFERENCE, TABLES, describe_platform

for name, read in TABLES.items():
    table = read(CLONE / "results/paper")
    table.to_csv(REFERENCE / f"{name}.csv", index=False, lineterminator="\n")
description = json.dumps(describe_platform(), indent=2) + "\n"
(REFERENCE / "platform.json").write_text(description, encoding="utf-8")
