"""Controls: the statements about the figure on wrong data."""

from contextlib import suppress

from pgpd_hf.algorithms import ALGORITHMS, get_algorithm
from pgpd_hf.core.arguments import located
from pgpd_hf.core.cmdp import CMDP
from replication.analyses import Table
from replication.files import storage, validation
from replication.study import sweeps
from replication.study.cases import Case, run_setting

TARGET = "claims"
TABLES = {"controls": Table("Statements on wrong data (table)", "claim control")}
READS = ("runs", "claims", "own", "schema", "environment", "optimum", "traces")
SHOWS = ("controls", "own_verdicts")
PICTURES = {"controls": "Statements on wrong data"}
CATEGORY = "Verdicts"


def plan(config):
    work = {}
    for algorithm in config["algorithms"]:
        for number, (name, control) in enumerate(config["controls"].items()):
            if "evaluators" not in control and not _why_not(config, algorithm, control):
                cases = _cases(config, algorithm, name, control)
                work.setdefault(cases[0].algorithm, []).append((number, cases))
    # An algorithm of the study may also be the exact limit of another one.
    return {name: sorted(items, key=lambda item: item[0]) for name, items in work.items()}


def fit(config, changes):
    """Leave out controls that the study drops, and those that it cannot have."""
    told = config["controls"].items()
    config["controls"] = {name: control for name, control in told if control is not None}
    for name in config["controls"]:
        if (why := _why_none(config, name)) and not changes.says("controls", name):
            changes.leave_out(config, "controls", name, why)


def check(config):
    for name, control in config["controls"].items():
        if why := _why_none(config, name):
            raise ValueError(f"controls.{name}: {why}")
        for algorithm in config["algorithms"]:
            known = get_algorithm(algorithm).options()
            for option, value in control.get("options", {}).items():
                with located(f"controls.{name}.options"):
                    if option in known:
                        known[option].check(value)


def arguments(config):
    limits = {algorithm: _limit(algorithm) for algorithm in config["algorithms"]}
    return {"controls": config["controls"], "limits": limits}


def tables(runs, claims, own, schema, environment, optimum, traces, controls, limits):
    from replication.statements.controls import judge_controls
    from replication.statements.declaration import load_claims
    from replication.statements.evidence import Member
    from replication.statements.inference import of_experiment

    cmdp, multiplier = CMDP.load(environment), storage.read_json(optimum)["multiplier"]
    declared = of_experiment(load_claims(claims, validation.read_yaml(schema), own))
    member = Member.on(cmdp, multiplier, storage.read_traces(traces))
    found = storage.read_traces(runs) if runs else member.traces[:0].assign(control="")
    wrong = _wrong(member.traces, found, controls, limits)
    titles = {name: control["title"] for name, control in controls.items()}
    return {"controls": judge_controls(declared, member, wrong, titles)}


def parameters(config):
    return {"about": {it["title"]: it["about"] for it in config["controls"].values()}}


def _wrong(study, runs, controls, limits):
    """Wrong runs in the place of the study's, by control and algorithm."""
    from replication.statements.controls import for_all_labels, with_next_labels

    wrong = {}
    for name, control in controls.items():
        for algorithm, traces in study.groupby("algorithm", sort=False):
            exact = "algorithm" in control
            ran = limits[algorithm] if exact else algorithm
            made = runs[(runs["control"] == name) & (runs["algorithm"] == ran)]
            if "evaluators" in control:
                made = with_next_labels(traces)
            elif exact:
                made = for_all_labels(made, traces)
            if len(made):
                wrong[name, algorithm] = made
    return wrong


def _limit(algorithm):
    """Name of the exact limit of an algorithm, if there is one."""
    for name in sorted(ALGORITHMS, key=len):  # limits first: a look imports the file
        with suppress(TypeError):  # of a file that is no algorithm yet
            if ALGORITHMS[name].limit_of == algorithm:
                return name
    return None


def _why_none(config, name):
    """Why no algorithm of a study can have a control, if none can."""
    control = config["controls"][name]
    reasons = (_why_not(config, algorithm, control) for algorithm in config["algorithms"])
    first = next(reasons, "")  # one by one, since looking for a limit imports algorithms
    return first if first and all(reasons) else ""


def _why_not(config, algorithm, control):
    """Why an algorithm of a study cannot have a control, in a few words."""
    unknown = sorted(set(control.get("options", {})) - set(get_algorithm(algorithm).options()))
    if not _finite(config):
        return "statements are about finite numbers M of people"
    if "evaluators" in control and len(_finite(config)) < 2:
        return "it takes two numbers M of people"
    if "algorithm" in control and _limit(algorithm) is None:
        return f"{algorithm} has no exact limit"
    if "algorithm" in control and sweeps.is_unlike_limit(config, algorithm):
        return f"{_limit(algorithm)} has other policies than {algorithm}"
    return f"{algorithm} has no option {unknown[0]}" if unknown else ""


def _cases(config, algorithm, name, control):
    """Cases for all M and seeds; for an exact limit, which asks nobody and draws nothing, one."""
    numbers, seeds = _finite(config), range(config["seeds"])
    if "algorithm" in control:
        numbers, seeds = numbers[:1], [0]
    return [
        Case(
            _limit(algorithm) if "algorithm" in control else algorithm,
            run_setting(config, algorithm, number) | control.get("options", {}),
            tuple(seeds),
            config["streams"],
            labels={"control": name},
        )
        for number in numbers
    ]


def _finite(config):
    """Finite numbers M of people, which statements are about."""
    return [number for number in config["evaluators"] if number is not None]
