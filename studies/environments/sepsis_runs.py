"""ICU-Sepsis: what is possible, a search for options of a method, or runs of a method."""

import argparse
import itertools
import json

import numpy as np
import pandas as pd
from environments.sepsis import load_model, sepsis_cmdp
from environments.sepsis_safe_rlhf import learned

from pgpd_hf import ALGORITHMS, solve
from pgpd_hf.optimum import maximize
from pgpd_hf.primal_dual import Run, State
from pgpd_hf.runs import iterates, with_options
from pgpd_hf.tables import one_line, write_table

POINTS = 12  # checkpoints of a run
OPTIONS = ["primal_step", "dual_step", "perturbation", "ridge", "utility_ridge"]
COLUMNS = {  # of the table of each part
    "frontier": ["what", "survival", "fluids"],
    "search": ["method", "answers", *OPTIONS, "score"],
    "runs": ["method", "seed", "iteration", "multiplier", "answers", "survival", "fluids"],
}


def iterated(cmdp, optimum, given, choices, seed, purpose):
    """Policies of runs at checkpoints, and what is told of each; a run for each choice."""
    for options in choices:
        asked = {key: given[key] for key in ("evaluators", "horizon")}
        algorithm = with_options(ALGORITHMS[given["algorithm"]], asked | options)
        spent = algorithm.effort(cmdp)[1] * algorithm.evaluators  # in an iteration
        setting = algorithm.prepare(cmdp, optimum, max(1, given["answers"] // spent))
        grid = {0, *np.rint(np.geomspace(1, setting.iterations, POINTS)).astype(int).tolist()}
        chunks = iterates(Run(algorithm, setting, seed, purpose), State(algorithm.start(cmdp), 0.0))
        pairs = (zip(policies, multipliers, strict=True) for policies, multipliers, _ in chunks)
        for t, (policy, multiplier) in enumerate(itertools.chain.from_iterable(pairs)):
            if t in grid:
                told = {"iteration": t, "multiplier": multiplier, "answers": t * spent}
                yield policy, options | told


def spend(cmdp, optimum, given, choices, purpose):
    """Table of a method's runs with each choice of options, until its answers are spent.

    There are values at checkpoints alone, since one takes as long as many iterations.
    """
    rows = []
    for seed in range(given["seeds"]):
        if given["algorithm"] == "safe_rlhf":
            found = learned(cmdp, given, choices, seed, purpose)
        else:
            found = iterated(cmdp, optimum, given, choices, seed, purpose)
        for policy, told in found:
            v_r, v_g = map(float, cmdp.evaluate(policy))
            survival, fluids = cmdp.in_units(v_r, v_g)
            told |= {"reward_value": v_r, "utility_value": v_g}
            rows.append({"seed": seed, **told, "survival": survival, "fluids": fluids})
    return pd.DataFrame(rows)


def search(cmdp, optimum, given):
    """Scores of all choices of options."""
    names, values = zip(*given["options"].items(), strict=True)
    choices = [dict(zip(names, it, strict=True)) for it in itertools.product(*values)]
    table = spend(cmdp, optimum, given, choices, f"{given['purpose']} search")
    early = table["iteration"] < table["iteration"].max() / 2  # nan of Safe RLHF is not early
    gap = (optimum.reward_value - table["reward_value"]).clip(lower=0)
    violation = (cmdp.threshold - table["utility_value"]).clip(lower=0)
    late = table.assign(score=gap + violation)[~early]
    scores = late.groupby([*names], sort=False)["score"].agg(lambda it: it.mean())
    return scores.reset_index().assign(answers=given["answers"])


def possible(clinicians, cmdp, optimum, admissible):
    """Survival and fluids of policies that are best at some multipliers, and of named policies.

    By strong duality the linear program's optima lie on the lines between the first. `admissible`
    is the CMDP with admissible actions alone.
    """
    multipliers = [0, *np.geomspace(0.001, 10, 25)]
    best = [maximize(cmdp, cmdp.reward + it * cmdp.utility) for it in multipliers]
    policies = [("frontier", cmdp, policy) for policy in best]
    policies += [
        ("clinicians", cmdp, clinicians),
        ("random", cmdp, np.full_like(clinicians, 1 / clinicians.shape[1])),
        ("optimum", cmdp, optimum.policy),
        ("optimum-admissible", admissible, solve(admissible).policy),
        ("least-admissible", admissible, maximize(admissible, admissible.utility)),
    ]
    rows = [(what, *it.in_units(*it.evaluate(policy))) for what, it, policy in policies]
    return pd.DataFrame(rows, columns=COLUMNS["frontier"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", required=True, choices=COLUMNS)
    parser.add_argument("--name", required=True, help="in this part of config.yaml")
    parser.add_argument("--given", required=True, type=json.loads, help="what it says, as JSON")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    options = parser.parse_args()
    with one_line():
        given, model = options.given, load_model()
        known = given["share"], given["discount"], given["cost_unit"]
        cmdp = sepsis_cmdp(model, *known)
        optimum = solve(cmdp)
        if options.part == "frontier":
            table = possible(model[2], cmdp, optimum, sepsis_cmdp(model, *known, model[3]))
        elif options.part == "runs":
            table = spend(cmdp, optimum, given, [given["options"]], given["purpose"])
        else:
            table = search(cmdp, optimum, given)
        table["method"] = given.get("method", options.name)
        write_table(table.reindex(columns=COLUMNS[options.part]), options.table)
