"""Figure 1 over random environments: instances as replicates, other draws of P, r and g.

A group has one pair of step sizes for all its instances, which races on other instances. The page
draws the figure's panels for the first group that has verdicts.
"""

from pgpd_hf.core.arguments import located
from pgpd_hf.core.optima import utility_range
from replication.analyses import Table
from replication.files import storage
from replication.study import configuration
from replication.study.cases import Case, run_setting
from replication.study.readings import overlay

TARGET = "claims"
TABLES = {
    "instances": Table(
        "Figure 1 over random environments (table)", "algorithm evaluators iteration"
    )
}
READS = ("runs",)
SHOWS = ("instances",)
PICTURES = {"instances": "Figure 1 over random environments"}
CATEGORY = "Verdicts"
COMPARED = ("small", "large")  # groups for statements about the size of the environment


def plan(config):
    return {
        f"{group}/{algorithm}": [
            (number, _cases(group, study, algorithm, number))
            for number in sorted(config["claims"]["instances"]["groups"][group]["numbers"])
        ]
        for group, study in groups(config).items()
        for algorithm in config["algorithms"]
    }


def why_not(config):
    return "" if judged(config) else "claims.instances.groups: no group with instances and verdicts"


def arguments(config):
    return {"group": _drawn(config)}


def parameters(config):
    instances = config["claims"]["instances"]
    count = len(instances["groups"][_drawn(config)]["numbers"])
    return {"count": count, "seeds": instances["seeds"], "look": config["look"]}


def tables(runs, group):
    from pgpd_hf import statistics

    traces = storage.read_traces([path for path in runs if f"/instances/{group}/" in str(path)])
    keys = ["algorithm", "evaluators", "instance", "iteration"]
    groups = traces.groupby(keys, sort=False, as_index=False, dropna=False)
    means = groups[[*statistics.VALUES]].mean()
    return {"instances": statistics.aggregate(means.rename(columns={"instance": "seed"}))}


def fit(config, changes):
    """Leave out groups whose instances were chosen for another environment."""
    for name, options in [*config["claims"]["instances"]["groups"].items()]:
        place = "claims", "instances", "groups", name
        if changes.inherits(*place, "numbers"):
            changes.leave_out(config, "claims.instances.groups", name, changes.why)
        elif changes.says(*place, "numbers") and not changes.says(*place, "title"):
            usual = changes.defaults["claims"]["instances"]["groups"].get(name, options)
            if len(usual["numbers"]) != len(options["numbers"]):  # which the title tells
                options.pop("title", None)


def check(config, schema):
    for group, options in config["claims"]["instances"]["groups"].items():
        key = f"claims.instances.groups.{group}"
        if "algorithms" in options:
            with located(f"{key}.algorithms"):
                for name in options["algorithms"]:
                    configuration.require_algorithm(config, name)
                configuration.check(overlay(config, {"algorithms": options["algorithms"]}), schema)
        for name in {"file", "instance"} & set(options.get("environment", {})):
            raise ValueError(
                f"{key}.environment.{name}: not allowed here; list instances in {key}.numbers"
            )
        both = sorted(set(options["numbers"]) & set(options.get("tuning", [])))
        if both:
            raise ValueError(f"{key}.tuning: {both[0]} is one of the instances that are judged")
        for number in (*options["numbers"], *options.get("tuning", [])):
            changes = {**options.get("environment", {}), "instance": number}
            cmdp = configuration.check_environment(f"{key}.environment", config, changes, schema)
            binds = utility_range(cmdp)[0] < cmdp.threshold
            if options.get("binding", binds) != binds:
                verb = "binds" if binds else "does not bind"
                raise ValueError(f"{key}.binding: the constraint of instance {number} {verb}")


def groups(config):
    """Configurations of a study's groups that have instances, whose numbers the runs set."""
    instances = config["claims"]["instances"]
    return {
        group: overlay(
            config,
            {
                "seeds": instances["seeds"],
                "environment": options.get("environment", {}),
                "algorithms": options.get("algorithms", {}),
                "calibration": {"seeds": config["claims"]["race_seeds"]},
                "tuning": options.get("tuning", []),
            },
        )
        for group, options in instances["groups"].items()
        if options["numbers"]
    }


def calibrations(config):
    """Configurations by folder whose races choose the step sizes of groups with `tuning`."""
    return {_folder(group): study for group, study in groups(config).items() if study["tuning"]}


def judged(config):
    """Titles of the tables of verdicts of groups that have one, all but :data:`COMPARED`."""
    titles = config["claims"]["instances"]["groups"]
    return {
        name: titles[name].get("title", name) for name in groups(config) if name not in COMPARED
    }


def judged_with(config, folder):
    """Groups whose runs the verdicts in a folder are about, if it is about instances at all."""
    # It is the folder's own group; for the study's first group also those of COMPARED.
    if not folder.startswith("instances/"):
        return []
    group = folder.split("/")[1]
    others = COMPARED if group == next(iter(judged(config))) else ()
    return [group, *(name for name in groups(config) if name in others)]


def environments(config, folder):
    """Options of the environments, by group, whose runs the verdicts in a folder are about."""
    studies = groups(config)
    return {group: studies[group]["environment"] for group in judged_with(config, folder)}


def _cases(group, study, algorithm, number):
    return [
        Case(
            algorithm,
            run_setting(study, algorithm, evaluators),
            tuple(range(study["seeds"])),
            f"instance {number}",
            configuration.vary(study, {"instance": number}),
            calibration=_folder(group) if study["tuning"] else "",
            labels={"group": group, "instance": number},
        )
        for evaluators in study["evaluators"]
    ]


def _drawn(config):
    """The group whose curves are drawn."""
    return next(iter(judged(config)), None)


def _folder(group):
    return f"instances/{group}/"
