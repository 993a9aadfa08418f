"""Run a method with its settings for all budgets, on seeds of the default environment or on others.

Each line says what the policy at the end of a run is worth.
"""

import argparse
import json

import pandas as pd
from answers import methods, problems, settings
from answers.search import CHOSEN

from pgpd_hf.tables import one_line, read_table, write_table


def chosen(path):
    """Setting that won a search."""
    table = read_table(path)
    given = table[table["standing"] == CHOSEN].iloc[0].dropna().to_dict()
    return given | {name: int(given[name]) for name in (*settings.COUNTS, "iterations")}


def run(method, problem, setting, **options):
    """A row: what a run has cost, and what its policy is worth."""
    policy = methods.learn(method, problem.cmdp, problem.optimum, setting, **options)
    size = problem.cmdp.states, problem.cmdp.actions
    return {
        "environment": problem.number,
        "seed": options["seed"],
        "answers": settings.answers(method, setting, size),
        "env_steps": settings.env_steps(method, setting, size, options["horizon"]),
        **dict(zip(("gap", "violation", "lagrangian_gap"), problem.loss(policy), strict=True)),
    }


def main(arguments):
    experiment, declared = arguments.experiment, arguments.declared
    environment = experiment["environment"]
    given = {"horizon": experiment["horizon"], "random_answers": arguments.random_answers}
    if arguments.where == "seeds":
        own = problems.make(environment)
        cases = [(own, {"seed": seed, "purpose": "run"}) for seed in range(declared["seeds"])]
    else:
        others = declared["environments"]
        made = problems.binding(environment, others["first"], others["count"])
        cases = [(it, {"seed": 0, "purpose": f"instance {it.number}"}) for it in made]
    rows = []
    for path in arguments.searches:
        setting = chosen(path)
        for problem, stream in cases:
            row = run(arguments.method, problem, setting, **stream, **given)
            rows.append({"method": arguments.method, "budget": budget_of(path)} | row)
    return pd.DataFrame(rows)


def budget_of(path):
    """Budget in the name of a search's table."""
    return int(path.rpartition("/")[2].removesuffix(".csv"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", required=True, type=json.loads, help="as JSON")
    parser.add_argument("--declared", required=True, type=json.loads, help="the study's, as JSON")
    parser.add_argument("--method", required=True, help="its name")
    parser.add_argument("--where", required=True, choices=("seeds", "environments"))
    parser.add_argument("--random-answers", type=float, default=0.0, help="their share")
    parser.add_argument("--searches", nargs="+", required=True, help="tables, by budget")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    with one_line():
        arguments = parser.parse_args()
        write_table(main(arguments), arguments.table)
