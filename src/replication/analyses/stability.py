"""Stability of ZPGPD-HF: predictions without a run, and runs.

Its parts are mean utility at frozen multipliers, long runs, fresh instances that test the
predictor, what else keeps the multiplier at equal numbers of answers, and long runs of NPGPD-HF,
about which nothing is predicted.
"""

import itertools

import numpy as np
import pandas as pd

import pgpd_hf
from pgpd_hf import environments
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import NORMALIZERS, STEPS, normalizer
from pgpd_hf.core.arguments import located, require_number
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.optima import find_safest
from pgpd_hf.core.sampling import default_horizon
from pgpd_hf.statistics import named_intervals
from replication.analyses import Table
from replication.files import storage
from replication.study import configuration, resources
from replication.study.cases import CALIBRATED, Case, run_setting

TARGET = "stability"
NAME = "zpgpd_hf"
NATURAL = "npgpd_hf"
TABLES = {
    "stability": Table("Mean utility at frozen multipliers (table)", "variant multiplier"),
    "stability_long": Table(
        "Long runs of ZPGPD-HF (table)", "instance evaluators variant iteration"
    ),
    "stability_fresh": Table("Predictions on fresh instances (table)", "setting instance"),
    "stability_cures": Table("What keeps the multiplier (table)", "method"),
    "stability_npgpd_hf": Table(
        "Long runs of NPGPD-HF (table)", "instance evaluators setting seed"
    ),
}
READS = ("runs", "environment")
SHOWS = ("environment",)
PICTURES = {"stability": "Does ZPGPD-HF settle?"}
METRICS = ("optimality_gap", "constraint_violation", "multiplier")
_POINTS = 24  # rows of a long run
_OFTEN = 200  # rows of a long run of NPGPD-HF, among which the largest multiplier is
_SKIPPED = 0.2  # of a run at a frozen multiplier
_OF_NATURAL = f"natural/{NATURAL}"


def plan(config):
    work = {
        f"frozen/{NAME}": enumerate(_frozen(config)),
        f"long/{NAME}": enumerate(_long(config)),
        f"fresh/{NAME}": _fresh(config),
        f"cures/{NAME}": enumerate(_cures(config)),
        _OF_NATURAL: enumerate(_natural(config)),
    }
    return {part: found for part, items in work.items() if (found := list(items))}


def fit(config, changes):
    """Leave out fresh instances, which were chosen for another environment."""
    if changes.inherits("stability", "fresh", "instances"):
        for number in config["stability"]["fresh"]["instances"]:
            changes.leave_out(config, "stability.fresh.instances", number, changes.why)


def parameters(config):
    """Variants whose step sizes are not those of the others."""
    variants = config["stability"]["variants"].items()
    return {"own_steps": [name for name, changes in variants if {*STEPS} & {*changes}]}


def why_not(config):
    if NAME not in config["algorithms"]:
        return f"algorithms.{NAME}: the study has none"
    return configuration.why_single(config)


def check(config):
    """Refuse options that an algorithm does not have or that are out of range, and multipliers."""
    options = config["stability"]
    parts = {"variants": options["variants"], "cures.methods": options["cures"]["methods"]}
    for part, named in (*parts.items(), ("fresh.settings", options["fresh"]["settings"])):
        for name, changes in named.items():
            with located(f"stability.{part}.{name}"):
                own = {"iterations"} if part == "fresh.settings" else set()
                get_algorithm(NAME).refuse_unknown(changes.keys() - own)
                setting = _setting(config, 16, changes)
                _algorithm(setting)
                if part == "variants":
                    require_number("primal_step", setting["primal_step"], above=0)
    for name, changes in options["natural"]["settings"].items():
        with located(f"stability.natural.{name}"):
            get_algorithm(NATURAL).having({"evaluators": 16, **changes})
    for part in ("long", "fresh"):
        for number in options[part]["instances"]:
            with located(f"stability.{part}.instances"):
                drawn = {"environment": configuration.vary(config, {"instance": number})}
                find_safest(configuration.environment(drawn))
    with located("stability.frozen"):
        configuration.require_increasing("multipliers", options["frozen"]["multipliers"])


def seconds(config):
    options = config["stability"]["fresh"]
    predictions = len(options["settings"]) * len(options["instances"])
    return resources.ANALYSIS + resources.PREDICTION * predictions


def arguments(config):
    options = config["stability"]
    return {
        "variants": {
            name: _setting(config, config["evaluators"][0], changes)
            for name, changes in options["variants"].items()
        },
        "multipliers": options["frozen"]["multipliers"],
        "settings": {
            name: _setting(config, 16, changes)
            for name, changes in options["fresh"]["settings"].items()
        },
        "family": config["environment"],
        "options": {key: options[key] for key in ("broken", "fresh", "cures")},
    }


def tables(runs, environment, variants, multipliers, settings, family, options):
    read = {
        part: storage.read_tables([path for path in runs if f"/stability/{part}/" in str(path)])
        for part in ("frozen", "long", "fresh", "cures", _OF_NATURAL)
    }
    return {
        "stability": frozen(read["frozen"], CMDP.load(environment), variants, multipliers),
        "stability_long": long_runs(read["long"], family, variants),
        "stability_fresh": fresh(read["fresh"], family, settings, options),
        "stability_cures": cures(read["cures"], options["cures"]["race_seeds"]),
        "stability_npgpd_hf": natural(read[_OF_NATURAL], options["broken"]),
    }


def between(runs, first, last):
    """Means of gap and violation over the iterates of each seed from one iteration to another."""
    rows = {
        it: runs[runs["iteration"] == it].set_index("seed").sort_index() for it in (first, last)
    }
    means = {"multiplier": rows[last]["multiplier"]}
    for metric in METRICS[:2]:
        sums = {it: (it + 1) * rows[it][f"mean_{metric}"] for it in (first, last)}
        means[metric] = (sums[last] - sums[first]) / (last - first)
    return pd.DataFrame(means).reset_index()


def frozen(runs, cmdp, variants, multipliers):
    """Mean values at frozen multipliers, measured over seeds and predicted, in units of value."""
    rows = []
    for variant, setting in variants.items():
        predicted = pgpd_hf.predict_stability(cmdp, _algorithm(setting), multipliers=multipliers)
        for place, multiplier in enumerate(multipliers):
            chosen = (runs["variant"] == variant) & (runs["frozen"] == multiplier)
            last = int(runs.loc[chosen, "iteration"].max())
            means = between(runs[chosen], round(_SKIPPED * last), last)
            rows.append(
                {"variant": variant, "multiplier": multiplier}
                | named_intervals(means, METRICS[:2])
                | {"predicted_violation": cmdp.threshold - predicted.utilities[place]}
            )
    return pd.DataFrame(rows)


def long_runs(runs, family, variants):
    """Means of long runs over seeds, between neighbouring checkpoints; and what is predicted."""
    rows = []
    keys = ["instance", "evaluators", "variant"]
    for (instance, evaluators, variant), of_one in runs.groupby(keys, sort=False):
        cmdp = environments.make({**family, "instance": int(instance)})
        algorithm = _algorithm({**variants[variant], "evaluators": int(evaluators)})
        breaks = pgpd_hf.predict_stability(cmdp, algorithm).breaks
        for first, last in itertools.pairwise(sorted(of_one["iteration"].unique())):
            means = between(of_one, first, last)[[*METRICS]].mean()
            answers = of_one.loc[of_one["iteration"] == last, "answers"].iloc[0]
            key = dict(zip(keys, (instance, evaluators, variant), strict=True))
            rows.append({**key, "iteration": last, "answers": answers, **means, "breaks": breaks})
    return pd.DataFrame(rows)


def fresh(runs, family, settings, options):
    """Whether runs broke after T and after several times T iterations, and whether they should."""
    rows, keys = [], ["setting", "instance"]
    for (name, instance), of_one in runs.groupby(keys, sort=False) if len(runs) else ():
        cmdp = environments.make({**family, "instance": int(instance)})
        predicted = pgpd_hf.predict_stability(cmdp, _algorithm(settings[name]))
        initial = of_one.loc[of_one["iteration"] == 0, "constraint_violation"].iloc[0]
        row = {"setting": name, "instance": instance, "initial_violation": initial}
        row |= {"peak": predicted.peak, "breaks": predicted.breaks}
        for late, times in (("", 1), ("late_", options["fresh"]["followed"])):
            last = times * settings[name]["iterations"]
            found = between(of_one, round(0.75 * last), last).iloc[0]
            row[f"{late}violation"] = found["constraint_violation"]
            row[f"{late}multiplier"] = found["multiplier"]
            row[f"{late}broke"] = broke(found["constraint_violation"], initial, **options["broken"])
        rows.append(row)
    judged = [
        f"{when}{it}" for when in ("", "late_") for it in ("violation", "multiplier", "broke")
    ]
    return pd.DataFrame(rows, columns=[*keys, "initial_violation", "peak", "breaks", *judged])


def broke(late, initial, violation, share):
    """Whether a run has broken: the criterion of `stability.broken`."""
    return bool(late > max(violation, share * initial))


def cures(runs, race_seeds):
    """Gap and violation over the last half with raced steps, on seeds that did not race."""
    rows = []
    for method, of_one in runs.groupby("method", sort=False):
        scores, found = {}, {}
        for steps, group in of_one.groupby(["primal_step", "dual_step"]):
            last = int(group["iteration"].max())
            means = between(group, last // 2, last)
            raced = means[means["seed"] < race_seeds]
            scores[steps] = raced[[*METRICS[:2]]].clip(lower=0).mean().sum()
            found[steps] = means[means["seed"] >= race_seeds]
        best = min(scores, key=scores.get)
        row = {"method": method, "primal_step": best[0], "dual_step": best[1]}
        rows.append(row | named_intervals(found[best], METRICS))
    return pd.DataFrame(rows)


def natural(runs, broken):
    """Late violation and multipliers of each long run of NPGPD-HF, and whether it broke."""
    rows, keys = [], ["instance", "evaluators", "setting"]
    for key, of_one in runs.groupby(keys, sort=False) if len(runs) else ():
        last = int(of_one["iteration"].max())
        for seed, run in of_one.groupby("seed"):
            initial = run.loc[run["iteration"] == 0, "constraint_violation"].iloc[0]
            found = between(run, round(0.75 * last), last).iloc[0]
            row = dict(zip((*keys, "seed"), (*key, seed), strict=True))
            row |= {"iteration": last, "answers": run["answers"].max()}
            row |= {"initial_violation": initial, **found[[*METRICS]]}
            row["largest_multiplier"] = run["multiplier"].max()
            row["broke"] = broke(found["constraint_violation"], initial, **broken)
            rows.append(row)
    names = [*keys, "seed", "iteration", "answers", "initial_violation", *METRICS]
    return pd.DataFrame(rows, columns=[*names, "largest_multiplier", "broke"])


def _algorithm(setting):
    kind = get_algorithm(NAME)
    return kind.having(kind.pick(setting))


def _setting(config, evaluators, changes, algorithm=NAME):
    """The study's setting with the steps of this analysis, and what a variant changes."""
    options = config["stability"]
    usual = run_setting(config, algorithm, evaluators)
    if usual.get("perturbation") == CALIBRATED:
        usual["perturbation"] = None
    steps = {"primal_step": options["primal_step"], "dual_step": options["dual_step"]}
    # Predictions are about values: trajectories must not be much shorter than these.
    horizon = default_horizon(config["environment"]["discount"])
    return {**usual, **steps, "iterations": 1, "rounds": 1, "horizon": horizon, **changes}


def _case(config, setting, seeds, part, marks, labels, algorithm=NAME):
    drawn = {"instance": labels["instance"]} if "instance" in labels else {}
    return Case(
        algorithm,
        setting,
        tuple(seeds),
        f"stability {part}",
        environment={**config["environment"], **drawn} if drawn else None,
        stream_keys=drawn,
        checkpoints=tuple(sorted({*marks})),
        labels=labels,
    )


def _frozen(config):
    """Runs that are long enough to forget their start, which shorter steps take longer to do."""
    options = config["stability"]["frozen"]
    for name, changes in config["stability"]["variants"].items():
        for multiplier in options["multipliers"]:
            setting = _setting(config, config["evaluators"][0], changes)
            setting |= {"dual_step": 0.0, "initial_multiplier": multiplier}
            if "multiplier_bound" in setting:
                setting["multiplier_bound"] = multiplier  # that of the study may be below it
            power = NORMALIZERS[setting.get("normalize", "none")]
            slower = normalizer(power, float(multiplier))
            slower *= config["stability"]["primal_step"] / setting["primal_step"]
            setting["iterations"] = last = round(options["iterations"] * slower)
            labels = {"variant": name, "frozen": multiplier}
            marks = round(_SKIPPED * last), last
            yield [_case(config, setting, range(options["seeds"]), "frozen", marks, labels)]


def _long(config):
    """Runs of all variants that ask for the same number of answers."""
    options = config["stability"]["long"]
    for instance, evaluators, (name, changes) in itertools.product(
        _instances(config), options["evaluators"], config["stability"]["variants"].items()
    ):
        setting = _setting(config, evaluators, changes)
        setting["iterations"] = last = max(10, options["iterations"] // setting["rounds"])
        marks = {0, *np.rint(np.geomspace(last / 1000, last, _POINTS)).astype(int).tolist()}
        labels = {"instance": instance, "variant": name}
        yield [_case(config, setting, range(options["seeds"]), "long", marks, labels)]


def _fresh(config):
    """Runs of all settings on each of the instances, which number the items."""
    options = config["stability"]["fresh"]
    for instance in options["instances"]:
        cases = []
        for name, changes in options["settings"].items():
            setting = _setting(config, 16, changes)
            once, last = setting["iterations"], options["followed"] * setting["iterations"]
            marks = {0, *(round(part * end) for part in (0.75, 1) for end in (once, last))}
            labels = {"setting": name, "instance": instance}
            setting["iterations"] = last
            cases.append(_case(config, setting, [0], "fresh", marks, labels))
        yield instance, cases


def _cures(config):
    options = config["stability"]["cures"]
    seeds, last = range(options["race_seeds"] + options["seeds"]), options["iterations"]
    for name, changes in options["methods"].items():
        cases = []
        for steps in itertools.product(options["primal_steps"], options["dual_steps"]):
            setting = _setting(config, config["evaluators"][0], {"iterations": last, **changes})
            setting |= dict(zip(STEPS, steps, strict=True))
            labels = {"method": name}
            cases.append(_case(config, setting, seeds, "cures", (last // 2, last), labels))
        yield cases


def _instances(config):
    """Numbers of the environments of long runs; the study's own comes first."""
    own, others = config["environment"]["instance"], config["stability"]["long"]["instances"]
    return [own, *(number for number in others if number != own)]


def _natural(config):
    """Long runs of NPGPD-HF in the environments of ZPGPD-HF's, if the study has the algorithm."""
    if NATURAL not in config["algorithms"]:
        return
    options, long = config["stability"]["natural"], config["stability"]["long"]
    last = options["iterations"]
    marks = {0, round(0.75 * last), last, *range(0, last, max(1, last // _OFTEN))}
    for instance, evaluators, (name, changes) in itertools.product(
        _instances(config), options["evaluators"], options["settings"].items()
    ):
        setting = _setting(config, evaluators, {"iterations": last, **changes}, NATURAL)
        labels = {"instance": instance, "setting": name}
        yield [_case(config, setting, range(long["seeds"]), "long", marks, labels, NATURAL)]
