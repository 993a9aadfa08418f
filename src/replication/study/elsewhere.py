"""Comparisons elsewhere: for other people, and on environments of other sizes (section `axes`).

Each is a study of its own, with the study's settings but for its environment and its comparison.
With K = answers / c² all that a method is tuned in means the same for every discrimination c: step
sizes are divided by c, and M by c². Studies of other sizes have people with c = 1.
"""

from dataclasses import replace

from pgpd_hf.algorithms.base import STEPS, HumanFeedback
from pgpd_hf.core.arguments import located, require_one_of
from pgpd_hf.core.evaluators import AS_ASSUMED
from replication.files.validation import conform
from replication.study import comparison, configuration
from replication.study.comparison import OWN_DESIGN, SIDES, Entry, check_arguments


def studies(config):
    """Studies of the section `axes` by name, each with the labels of its runs."""
    axes, found = config["axes"], {}
    for factor in axes["discrimination"]:
        budgets = [round(answers / factor**2) for answers in axes["answers"]]
        people = axes["people"] if factor in axes["asked_at"] else {}
        people = {
            name: {key: x * factor if key == "semiorder" else x for key, x in it.items()}
            for name, it in people.items()
        }
        sides = {side: axes[side] for side in SIDES}
        changes = {"discrimination": factor}
        name = f"c{factor:g}".replace(".", "_")
        found[name] = changes, _study(config, axes, changes, budgets, people, sides)
    for sizes in _sizes(axes):
        for states in sizes["states"]:
            own = {"features": sizes["features"]} if "features" in sizes else {}
            labels = {"discrimination": 1, "size": states * configuration.size(config)[1]} | own
            changes = {"states": states, "threshold": "midway"} | own
            everyone = {SIDES[0]: [*sizes["methods"]], SIDES[1]: []}  # no question of sides here
            study = _study(config, sizes, changes, sizes["answers"], {}, everyone)
            found[f"{'linear' if own else 'states'}{states}"] = labels, study
    return found


def check(config, schema):
    """Refuse comparisons elsewhere that cannot be run, in one line that names the key."""
    axes, sizes = config["axes"], config["axes"]["sizes"]
    places = ("axes", "axes.sizes", "axes.sizes.larger", "axes.sizes.linear")
    for section, part in zip(places, (axes, *_sizes(axes)), strict=True):
        for key in ("discrimination", "states", "answers"):
            configuration.require_increasing(f"{section}.{key}", part.get(key, []))
        _check_methods(section, part["methods"], schema)
    if both := sorted({*sizes["states"]} & {*sizes["larger"]["states"]}):
        raise ValueError(f"axes.sizes.larger.states: {both[0]} is one of axes.sizes.states")
    if unknown := sorted(set(axes["asked_at"]) - set(axes["discrimination"])):
        raise ValueError(f"axes.asked_at: {unknown[0]:g} is not one of axes.discrimination")
    for name, people in axes["people"].items():
        for option, value in people.items():
            with located(f"axes.people.{name}"):
                require_one_of("option", option, AS_ASSUMED)
                HumanFeedback.options()[option].check(value)
    for name in sizes["larger"]["methods"]:
        require_one_of("axes.sizes.larger.methods", name, sizes["methods"])
    for side in SIDES:
        for name in axes[side]:
            require_one_of(f"axes.{side}", name, axes["methods"])
    for labels, study in studies(config).values():
        what = f"c = {labels['discrimination']:g}"
        what = f"{labels['size']} states and actions" if "size" in labels else what
        with located(f"axes, {what}"):
            configuration.environment(study)
            comparison.check(study, schema)


def plan(config, plan_of):
    """What these studies run by a plan of the comparison, in parts of their own."""
    return {
        part: items
        for name, (labels, study) in studies(config).items()
        for part, items in _marked(name, labels, plan_of(study)).items()
    }


def _check_methods(section, methods, schema):
    """Refuse methods of a section that do not look like those of the comparison."""
    usual = schema["properties"]["comparison"]["properties"]["methods"]
    told = {name: it and {"most_answers": 1} | it for name, it in methods.items()}
    conform(told, usual | {"$defs": schema["$defs"]}, f"{section}.methods")
    if not any(methods.values()):
        raise ValueError(f"{section}.methods: at least one expected, got none")
    for name, options in methods.items():
        if options is not None:
            entry = Entry(name, OWN_DESIGN, options["algorithm"], options)
            check_arguments(entry, schema, section)


def _study(config, section, changes, budgets, people, sides):
    """A study whose environment has changes, and whose comparison is that of a section."""
    factor = changes.get("discrimination", 1)
    methods = {
        name: _rescaled(name, options, factor) | {"most_answers": max(budgets)}
        for name, options in section["methods"].items()
        if options is not None
    }
    asked = {"budgets": budgets, "people": people}
    asked |= {side: [it for it in names if it in methods] for side, names in sides.items()}
    own = ("instances", "tuning_runs", "tuning_instances", "most_pairs")
    part = {name: section[name] for name in own if name in section}
    part |= {"budgets": budgets, "most_on_instances": max(budgets), "methods": methods}
    part |= {"statements": {}, "misspecification": asked}
    environment = {**config["environment"], **changes}
    return config | {"environment": environment, "comparison": config["comparison"] | part}


def _sizes(axes):
    """All sections of sizes; methods of the larger have from the first what they do not say."""
    sizes, told = axes["sizes"], axes["sizes"]["methods"]
    methods = {
        name: None if it is None or told.get(name) is None else told[name] | it
        for name, it in sizes["larger"]["methods"].items()
    }
    return sizes, sizes["larger"] | {"methods": methods}, sizes["linear"]


def _rescaled(name, told, factor):
    """What is told of a method under a name, and below it, if it was told for people with c = 1."""
    if isinstance(told, dict):
        return {key: _rescaled(key, it, factor) for key, it in told.items()}
    if isinstance(told, list):
        values = [_rescaled(name, it, factor) for it in told]
        return sorted({*values}) if name == "evaluators" else values
    if name in STEPS:
        return told / factor
    if name in ("evaluators", "at_least"):  # M, and a number of answers
        return max(1, round(told / factor**2))
    return told


def _marked(name, own, work):
    """Work of one of these studies, told apart from that of the others by its own labels."""

    def mark(case):
        choice = case.choice and f"{name}: {case.choice}"
        return replace(case, labels=own | case.labels, choice=choice)

    return {
        f"{name}/{part}": [(number, [mark(case) for case in cases]) for number, cases in items]
        for part, items in work.items()
    }
