"""ICU-Sepsis: the model and its frontier, a search for step sizes, or runs of a method."""

import argparse
import itertools
import json
import math

import numpy as np
import pandas as pd
from environments.sepsis import declared_cmdp, frontier, load_model

from pgpd_hf import ALGORITHMS, solve
from pgpd_hf.primal_dual import Run, State
from pgpd_hf.runs import iterates
from pgpd_hf.tables import one_line, write_table

POINTS = 12  # checkpoints of a run


def horizon_of(cmdp, optimum):
    """Smallest H that cuts off less than a tenth of the slack."""
    per_step = 0.1 * optimum.slack * (1 - cmdp.discount) / cmdp.utility.max()
    return math.ceil(math.log(per_step) / math.log(cmdp.discount)) - 1


def follow(cmdp, optimum, algorithm, iterations, checkpoints, seed, purpose):
    """Values at checkpoints alone, since one evaluation takes as long as many iterations."""
    setting = algorithm.prepare(cmdp, optimum, iterations)
    state, first, rows = State(algorithm.start(cmdp), 0.0), 0, []
    for policies, multipliers, _ in iterates(Run(algorithm, setting, seed, purpose), state):
        for t in range(first, first + len(multipliers)):
            if t in checkpoints:
                values = cmdp.evaluate(policies[t - first])
                rows.append((seed, t, *map(float, values), multipliers[t - first]))
        first += len(multipliers)
    names = ["seed", "iteration", "reward_value", "utility_value", "multiplier"]
    table = pd.DataFrame(rows, columns=names)
    table["answers"] = table["iteration"] * setting.questions * algorithm.evaluators
    return table


def run_method(process, name, evaluators, answers, seeds, purpose, **options):
    """Runs of an algorithm until its answers are spent."""
    cmdp, optimum = process
    algorithm = ALGORITHMS[name](
        evaluators=evaluators, horizon=horizon_of(cmdp, optimum), **options
    )
    questions = algorithm.prepare(cmdp, optimum, 1).questions
    T = max(1, answers // (questions * evaluators))
    grid = {0, *np.rint(np.geomspace(1, T, POINTS)).astype(int).tolist()}
    tables = [follow(cmdp, optimum, algorithm, T, grid, seed, purpose) for seed in seeds]
    return pd.concat(tables)


def search(process, name, given, seeds, purpose):
    """Scores of all steps, and which of them are best."""
    cmdp, optimum = process
    names = [key for key in given if key != "answers"]
    rows = []
    for choice in itertools.product(*(given[key] for key in names)):
        options = dict(zip(names, choice, strict=True))
        table = run_method(process, name, 16, given["answers"], seeds, purpose, **options)
        late = table[table["iteration"] >= table["iteration"].max() / 2]
        gap = (optimum.reward_value - late["reward_value"]).clip(lower=0)
        violation = (cmdp.threshold - late["utility_value"]).clip(lower=0)
        rows.append({"algorithm": name, **options, "score": (gap + violation).mean()})
    columns = ["algorithm", "primal_step", "dual_step", "perturbation", "score"]
    table = pd.DataFrame(rows, columns=columns)  # NPGPD-HF has no perturbation
    return table.assign(chosen=table["score"].eq(table["score"].min()))


def main():
    """Read arguments, and write a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--told", required=True, type=json.loads, help="of config.yaml, as JSON")
    parser.add_argument("--part", required=True, choices=["frontier", "search", "runs"])
    parser.add_argument("--name", help="of the method, or of the algorithm of a search")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    options = parser.parse_args()
    told, name, model = options.told, options.name, load_model()
    cmdp = declared_cmdp(model, told)
    optimum = solve(cmdp)
    if options.part == "search":
        seeds, purpose = range(told["seeds"]), f"{told['purpose']} search"
        table = search((cmdp, optimum), name, told["search"], seeds, purpose)
    elif options.part == "runs":
        method = told["method"]
        spent = method["evaluators"], method["answers"], range(method["seeds"])
        process, steps = (cmdp, optimum), told["steps"]
        table = run_method(process, method["algorithm"], *spent, told["purpose"], **steps)
        values = table.pop("reward_value"), table.pop("utility_value")
        table["survival"], table["fluids"] = cmdp.in_units(*values)
        table.insert(0, "method", name)
    else:
        ends = told["frontier"]
        multipliers = np.geomspace(ends["least"], ends["most"], ends["points"])
        rows = [("frontier", *it) for it in np.transpose(frontier(cmdp, [0, *multipliers]))]
        uniform = np.full_like(model.clinicians, 1 / model.clinicians.shape[1])
        named = {"clinicians": model.clinicians, "random": uniform, "optimum": optimum.policy}
        rows += [(key, *cmdp.in_units(*cmdp.evaluate(it))) for key, it in named.items()]
        table = pd.DataFrame(rows, columns=["what", "survival", "fluids"])
    write_table(table, options.table)


if __name__ == "__main__":
    with one_line():
        main()
