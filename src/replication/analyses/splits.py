"""Allocation between M and N: many people per question, or many questions.

The variance of an estimated difference that is due to votes is about :math:`4/(MN)`, whatever M and
N are. Here M N is fixed, and with it the number of answers of an iteration and of a run, and N goes
up while M goes down; everything else is as in the study, for both estimators.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import HumanFeedback
from pgpd_hf.core.arguments import located
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.links import get_link
from pgpd_hf.core.optima import solve
from pgpd_hf.core.questions import DESIGNS
from pgpd_hf.core.streams import bit_generator
from pgpd_hf.statistics import named_intervals
from replication.analyses import Table
from replication.files import storage
from replication.study import configuration
from replication.study.cases import Case, by_seed, run_setting, stream_key
from replication.study.summaries import priced_gap
from replication.theory.exact import answer_variance, feedback_error
from replication.theory.information import answer_information
from replication.theory.records import sample_estimates
from replication.theory.setting import Setting

TARGET = "compare"
TABLES = {
    "splits": Table("Allocation between M and N (table)", "algorithm estimator evaluators rounds"),
    "splits_variance": Table(
        "Variances of estimates (table)", "estimator evaluators rounds question"
    ),
}
READS = ("runs", "environment")
SHOWS = ("environment",)
PICTURES = {"splits": "Allocation between M and N"}
METRICS = ("optimality_gap", "constraint_violation", "priced_gap")
KEYS = ("algorithm", "estimator", "evaluators", "rounds")
VARIANCE_COLUMNS = ("estimator", "evaluators", "rounds", "question", "votes", "law", "measured")
LAST_QUARTER = 0.75  # the part of a run whose mean counts begins here
_MEASURED = "npgpd_hf"  # whose estimates are measured
_PAIRS = 3000  # of trajectories, over which information is averaged
_POINTS = 26  # iterations of that part at which a trace has a row


def plan(config):
    return {
        algorithm: by_seed(
            [_case(algorithm, setting) for setting in settings], config["splits"]["seeds"]
        )
        for algorithm in _asking(config)
        if (settings := _settings(config, algorithm)[0])
    }


def check(config):
    options = config["splits"]
    for evaluators in options["evaluators"]:
        if options["answers"] % evaluators:
            raise ValueError(
                f"splits.evaluators: a divisor of splits.answers, {options['answers']}, expected, "
                f"got {evaluators}"
            )
        with located("splits.evaluators"):
            HumanFeedback.options()["rounds"].check(options["answers"] // evaluators)


def arguments(config):
    splits = _settings(config, _MEASURED)[0] if _MEASURED in config["algorithms"] else []
    return {"splits": splits, "draws": config["splits"]["draws"]}


def tables(runs, environment, splits, draws):
    table = tabulate(storage.read_tables(runs)) if runs else pd.DataFrame(columns=list(KEYS))
    return {"splits": table, "splits_variance": variances(CMDP.load(environment), splits, draws)}


def parameters(config):
    return {
        "empty": [it for name in _asking(config) for it in _settings(config, name)[1]],
        "horizon": config["horizon"],
        "link": config["link"],
    }


def tabulate(runs):
    """Reduce runs to a row per algorithm, estimator and split: means over the last quarter."""
    runs = runs.assign(priced_gap=priced_gap(runs))
    late = runs[runs["iteration"] >= LAST_QUARTER * runs["iterations"]]
    runs = late.groupby([*KEYS, "seed"], sort=False, as_index=False)[
        [*METRICS, "answers", "steps"]
    ].agg(dict.fromkeys(METRICS, "mean") | {"answers": "max", "steps": "max"})
    rows = [
        dict(zip((*KEYS, "answers", "steps"), key, strict=True)) | named_intervals(group, METRICS)
        for key, group in runs.groupby([*KEYS, "answers", "steps"], sort=False)
    ]
    return pd.DataFrame(rows)


def variances(cmdp, splits, draws):
    """Variances of NPGPD-HF's estimates at the uniform policy, beside their exact law."""
    # `votes` is the part that comes from votes if both trajectories are equally good, `law` all of
    # it, each divided by N.
    optimum, rows = solve(cmdp), []
    for split in splits:
        setting = Setting(**split | {"primal_step": 0.0, "dual_step": 0.0})
        link, bound = get_link(setting.link), cmdp.return_bound(setting.horizon)
        answered = _questions(cmdp, optimum, setting, draws)
        known = replace(setting, evaluators=None, rounds=1, estimator="plug-in")
        asked = _questions(cmdp, optimum, known, draws)
        how = setting.evaluators, link, bound, setting.estimator
        votes = feedback_error([0.0], *how).square.item() / setting.rounds
        for question, differences in asked.items():
            law = answer_variance(differences, *how).mean() / setting.rounds
            measured = answered[question].var(0, ddof=1).mean()
            key = setting.estimator, setting.evaluators, setting.rounds, question
            rows.append((*key, votes, law, measured))
    return pd.DataFrame(rows, columns=list(VARIANCE_COLUMNS))


def information_by_design(cmdp, horizon, link):
    """What a comparison tells a regression, in units of what it tells NPGPD-HF."""
    # NPGPD-HF learns about one pair (s, a), with which a trajectory begins: an answer, nearly the
    # toss of a coin, has an information of 1/4. A regression learns from all steps of both
    # trajectories. Were they independent, that would be 1/4 for each, times the square of its
    # discount: in all 2/(1 - gamma^2) times as much.
    rows = [
        (design, 4 * np.trace(answer_information(cmdp, design, horizon, link, _PAIRS).reward))
        for design in DESIGNS
    ]
    table = pd.DataFrame(rows, columns=["design", "information"])
    return table.assign(independent=2 / (1 - cmdp.discount**2))


def _questions(cmdp, optimum, setting, draws):
    """Draws of estimates at the uniform policy: "advantage" (draws, 2 S A), "safety" (draws, 1)."""
    algorithm = setting.run(_MEASURED, cmdp, optimum)
    theta = algorithm.initial_parameter()
    axes = {"evaluators": setting.evaluators, stream_key("rounds"): setting.rounds}
    bits = bit_generator(purpose="variances", **axes, reading=setting.estimator)
    advantages, safety = sample_estimates(algorithm, theta, bits, draws)
    return {"advantage": advantages.reshape(draws, -1), "safety": safety[:, None]}


def _asking(config):
    """Algorithms that have the option `estimator`."""
    return [name for name in config["algorithms"] if "estimator" in get_algorithm(name).options()]


def _settings(config, algorithm):
    """Settings of an algorithm, and those that are impossible, with the reason."""
    options, possible, empty = config["splits"], [], []
    for estimator in options["estimators"]:
        for evaluators in options["evaluators"]:
            setting = run_setting(config, algorithm, evaluators)
            split = {"rounds": options["answers"] // evaluators, "estimator": estimator}
            try:
                configuration.require_estimates(config, setting | split)
                possible.append(setting | split)
            except ValueError as error:
                empty.append((algorithm, estimator, evaluators, str(error)))
    return possible, empty


def _case(algorithm, setting):
    total = setting["iterations"]
    first = LAST_QUARTER * total
    grid = {round(first + step * (total - first) / (_POINTS - 1)) for step in range(_POINTS)}
    return Case(
        algorithm,
        setting,
        purpose="splits",
        checkpoints=tuple(sorted(grid)),
        labels={"estimator": setting["estimator"]},
    )
