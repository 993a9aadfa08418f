"""Judge statements on sets of runs; write a table of verdicts."""

import argparse
import json
from pathlib import Path

import pandas as pd
from verdicts.judging import Runs, judge, own_heights, slopes_by_seed
from verdicts.statements import FIGURE, GAP, NP, VIOLATION, ZP, chosen

from pgpd_hf.tables import one_line, read_json, read_traces, write_json, write_table

NEXT = {64: 16, 256: 64, 16: 256}  # the M that runs are said to have where M is permuted

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--setting", required=True, type=json.loads, help="what is judged, as JSON")
parser.add_argument("--optimum", help="JSON file")
parser.add_argument("--runs", nargs="*", help="CSV files of runs")
parser.add_argument("--rates", nargs="*", help="CSV files of runs for rates")
parser.add_argument("--table", help="CSV file that is written")
parser.add_argument("--heights", help="JSON file with panels' heights, instead of the others")
options = parser.parse_args()


def traces_of(name):
    """Traces of a variant, or of the default as a variant sees them, or of all runs."""
    folders = [Path(path).parts[-3] for path in options.runs]
    folder = name if name in folders else "default"
    paths = [path for path, it in zip(options.runs, folders, strict=True) if it == folder]
    traces = read_traces(paths or options.runs)
    if name == "running-average":
        return traces.assign(**{key: traces[f"mean_{key}"] for key in (GAP, VIOLATION)})
    if name == "positive-violation":
        return traces.assign(**{VIOLATION: traces[VIOLATION].clip(lower=0)})
    if name == "unconstrained-optimum":
        more = optimum["unconstrained"]["reward_value"] - optimum["reward_value"]
        return traces.assign(**{GAP: traces[GAP] + more})
    if name == "m-permuted":
        return traces.assign(evaluators=traces["evaluators"].map(NEXT))
    if name == "iterations-reversed":
        last = traces.groupby("algorithm")["iteration"].transform("max")
        return traces.assign(iteration=last - traces["iteration"])
    return traces


def judged(name):
    """Verdicts on a set of runs; of a control, the algorithm that a statement is about is wrong."""
    heights = None if setting.get("own") else setting["heights"]
    heights = heights and heights.get(name, heights["default"])
    traces = traces_of(name) if options.runs else None
    if name not in setting["controls"]:
        return judge(statements, Runs(traces, heights, slopes), setting["level"])
    right, tables = traces_of("default"), []
    for algorithm in (NP, ZP):
        about = [it for it in statements if it.about == algorithm]
        parts = traces[traces["algorithm"] == algorithm], right[right["algorithm"] != algorithm]
        table = judge(about, Runs(pd.concat(parts), heights), setting["level"])
        tables.append(table.assign(has_to_fail=[name in it.fails_on for it in about]))
    return pd.concat(tables)


with one_line():
    setting, slopes = options.setting, None
    if options.heights:
        heights = {name: own_heights(traces_of(name)) for name in setting["names"]}
        write_json(heights, options.heights)
    else:
        optimum = read_json(options.optimum)
        statements = chosen(setting.get("statement"), setting.get("margin"))
        if options.rates:
            slopes = slopes_by_seed(read_traces(options.rates), optimum["multiplier"])
        if setting["names"] != ["verdicts"]:
            statements = [it for it in statements if it.source == FIGURE]
        table = pd.concat([judged(name).assign(data=name) for name in setting["names"]])
        write_table(table, options.table)
        if setting.get("statement"):
            margin = setting.get("margin")
            other = "" if margin is None else f" Here the margin is {margin:g} instead."
            print(f"{statements[0].quote!r}. Refuted if: {statements[0].refuted_by}{other}")
            level = setting["level"]
            print("The part that decides, with M in parentheses, in heights of a panel or as an")
            print(f"exponent, with its {1 - 2 * level:.0%} interval. A p of at most {level:g} is")
            print("enough; p against is corrected for the number of parts.")
            if statements[0].source != FIGURE:
                print("A flatter exponent does not refute a bound, which has other terms.")
            if not setting["fresh"]:
                print("The verdicts were on these seeds, too; FRESH=mine draws others.")
        for verdict in ("contradicted", "inconclusive", "reproduced", "not asked"):
            for row in table[table["verdict"] == verdict].itertuples():
                told = f"{row.part}: {row.estimate:.4f} [{row.low:.4f}, {row.high:.4f}]; "
                told += f"expected in ({row.above:g}, {row.below:g}); {row.replicates:g} seeds; "
                told += f"p {row.p_reproduced:.3g} for it, {row.p_contradicted:.3g} against"
                print(f"{verdict:12}  {row.statement}  {told if row.part == row.part else row.why}")
