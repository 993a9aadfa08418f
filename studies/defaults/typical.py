"""Which random instance is typical: a table of the first ones whose constraint binds.

Of each instance it has the slack, violation and gap of the uniform policy, and the optimal
multiplier. The distance is Euclidean; each number is scaled by its distance from the median in
units of the median such distance, so that no extreme instance decides what is typical.
"""

import argparse
import json

import numpy as np
import pandas as pd

from pgpd_hf import random_cmdp, solve
from pgpd_hf.optimum import utility_range
from pgpd_hf.tables import one_line, write_table


def first_binding(environment, count):
    """Table of the first instances whose constraint binds, numbered from 1."""
    rows, most = [], 100 * count
    for number in range(1, most + 1):
        cmdp = random_cmdp(**environment | {"instance": number})
        if utility_range(cmdp)[0] < cmdp.threshold:
            best = solve(cmdp)
            v_r, v_g = cmdp.evaluate(np.full_like(cmdp.reward, 1 / cmdp.actions))
            row = {"instance": number, "slack": best.slack, "violation": cmdp.threshold - v_g}
            rows.append(row | {"multiplier": best.multiplier, "gap": best.reward_value - v_r})
        if len(rows) == count:
            return pd.DataFrame(rows).astype({"violation": float, "gap": float})
    raise ValueError(f"environment: {count} of {most} instances that bind expected")


def with_distances(table):
    """Add the distances and sort by them; of equal distances the smaller number comes first."""
    away = (table.drop(columns="instance") - table.drop(columns="instance").median()).abs()
    distance = np.linalg.norm(away / away.median(), axis=1)
    return table.assign(distance=distance).sort_values("distance", kind="stable")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, type=json.loads, help="options, as JSON")
    parser.add_argument("--instances", required=True, type=int, help="how many")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    options = parser.parse_args()
    with one_line():
        table = first_binding(options.environment, options.instances)
        write_table(with_distances(table), options.table)
