r"""Methods that are compared at equal numbers of human answers, and their settings at each budget.

A budget is a number of answers. Iterative methods spend it on iterations, :math:`T = \lfloor K /
(Q M)\rfloor` with Q questions in each, N times as many as with one round; methods that fit a policy
to answers spend it in one iteration of N pairs, or in as many as their candidates say, with as few
answers M per question as the largest number of pairs allows.
"""

import itertools
import math
from functools import cache
from typing import NamedTuple

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import STEPS
from pgpd_hf.core.arguments import located, require_one_of
from replication.files.validation import conform, unknown_key
from replication.study import algorithms, configuration

SIDES = ("skipping", "inferring")  # of the question whether skipping reward inference pays off
OWN_DESIGN = "its own"  # in tables, for a method whose questions are a part of it


class Entry(NamedTuple):
    """A method with one design of questions."""

    method: str  # its key in the configuration
    design: str  # one of pgpd_hf.core.questions.DESIGNS, or OWN_DESIGN
    algorithm: str
    options: dict  # of the method in the configuration

    @property
    def part(self):
        """str: path of its runs, which ends with the algorithm's name."""
        return f"{self.method}/{self.design.replace('-', '_').replace(' ', '_')}/{self.algorithm}"


def entries(config):
    """All methods of a study with all of their designs."""
    return [
        Entry(method, design, options["algorithm"], options)
        for method, options in config["comparison"]["methods"].items()
        for design in options.get("designs", [OWN_DESIGN])
    ]


def labels(methods):
    """Names of methods for people, without those that a study has dropped."""
    return {name: it.get("label", name) for name, it in methods.items() if it is not None}


def budgets(config, entry):
    """Budgets of a method."""
    most = entry.options["most_answers"]
    return [budget for budget in config["comparison"]["budgets"] if budget <= most]


def raced_budgets(config, entry):
    """Budgets of a method that pay for a candidate."""
    return [budget for budget in budgets(config, entry) if candidates(config, entry, budget)]


def candidates(config, entry, budget):
    """Keyword arguments of runs among which a method is tuned; none if the budget is too small."""
    return [*admit(config, entry, budget, _combinations(entry, budget)).values()]


def admit(config, entry, budget, combinations):
    """Settings by combination of :func:`lists`, of those that are affordable and readable."""
    readable = cache(lambda *how: _readable(config, *how))
    return {
        values: setting
        for values, setting in _affordable(config, entry, budget, combinations).items()
        if readable(setting["evaluators"], setting.get("estimator"))
    }


def reason(config, entry, budget):
    """Say why a method has no result at a budget; empty if it has one."""
    if candidates(config, entry, budget):
        return ""
    tried = lists(entry, budget)
    people, rounds = tried.get("evaluators", [1]), min(tried.get("rounds", [1]))
    questions = get_algorithm(entry.algorithm).effort(*configuration.size(config), rounds)[1]
    if budget < questions * min(people):
        return f"one iteration takes {questions * min(people)} answers"
    if affordable := _affordable(config, entry, budget, _combinations(entry, budget)):
        most = max(setting["evaluators"] for setting in affordable.values())
        return f"votes of {most} people cannot be read without bias"
    return f"more than {entry.options['most_rounds_in_all']} rounds in all with M = {max(people)}"


def instances(config):
    """Random instances on which methods are compared, and those on which they are tuned."""
    group = config["claims"]["instances"]["groups"][config["comparison"]["group"]]
    judged = sorted(group["numbers"])[: config["comparison"]["instances"]]
    return judged, sorted(group.get("tuning", []))[: config["comparison"].get("tuning_instances")]


def key(entry, budget):
    """Name of the choice that tuning makes for a method at a budget."""
    return f"{entry.method}, {entry.design}, {budget}"


def check(config, schema):
    """Refuse a comparison that cannot be run, in one line that names the key."""
    options = config["comparison"]
    configuration.require_increasing("comparison.budgets", options["budgets"])
    groups = config["claims"]["instances"]["groups"]
    require_one_of("comparison.group", options["group"], groups)
    if not instances(config)[1]:
        raise ValueError(
            f"comparison.group: the group {options['group']!r} has no instances for tuning"
        )
    if groups[options["group"]].get("environment"):
        raise ValueError(
            "comparison.group: one without an environment of its own expected, since methods are "
            f"compared in the study's, got {options['group']!r}"
        )
    named = [*labels(options["methods"]).values()]
    if twice := next((name for name in named if named.count(name) > 1), ""):
        raise ValueError(f"comparison.methods: {twice!r} is the label of two methods")
    for name, told in options["statements"].items():
        for side in ("better", "than"):
            place = f"comparison.statements.{name}.{side}"
            require_one_of(place, told[side], options["methods"])
    for entry in entries(config):
        check_arguments(entry, schema)
        with located(f"comparison.methods.{entry.method}"):
            kind = get_algorithm(entry.algorithm)
            given = {*entry.options["candidates"], *entry.options.get("fixed", {})}
            for name in entry.options.get("large_budgets", {"candidates": {}})["candidates"]:
                require_one_of("large_budgets.candidates", name, entry.options["candidates"])
            kind.refuse_unknown(["design"] if "designs" in entry.options else [])
            needed = {"evaluators", "primal_step", "dual_step"} if kind.has_steps else set()
            for name in sorted(needed - given):
                raise ValueError(f"candidates: {name} expected, since the method makes steps")


def fit(config, changes):
    """Leave out methods that the study has dropped, and people who vote as it assumes."""
    options = config["comparison"]
    dropped = [name for name, it in options["methods"].items() if it is None]
    methods = {name: it for name, it in options["methods"].items() if it is not None}
    # Without the group of instances on which methods are tuned, there is no comparison.
    left_out = changes.why and options["group"] not in config["claims"]["instances"]["groups"]
    options["methods"] = {} if left_out else methods
    gone = {*changes.defaults["comparison"]["methods"], *dropped} - {*options["methods"]}
    told = options["statements"].items()
    options["statements"] = {name: it for name, it in told if not gone & {it["better"], it["than"]}}
    for side in SIDES:
        named = options["misspecification"][side]
        options["misspecification"][side] = [name for name in named if name not in gone]
    key = "comparison.misspecification.people"
    for name, it in options["misspecification"]["people"].items():
        if it.get("true_link") == config["link"] and not changes.says(*key.split("."), name):
            changes.leave_out(config, key, name, f"link: {config['link']}")


def why_not(config):
    """Say why methods cannot be compared in a study, and what to change."""
    options = config["comparison"]
    if options["methods"]:
        return ""
    group = f"claims.instances.groups.{options['group']}"
    why = f"comparison.methods: none; they are tuned on {group}, so set its numbers"
    return configuration.why_single(config) or why


def check_arguments(entry, schema, section="comparison"):
    """Hold arguments of runs against what an algorithm's entry of a study may have."""
    known = algorithms.keys(get_algorithm(entry.algorithm))
    known["evaluators"] = schema["$defs"]["evaluators"]["items"] | {"type": "integer"}
    if not get_algorithm(entry.algorithm).has_steps:
        known["iterations"] = schema["$defs"]["iterations"]
    fixed = {name: [value] for name, value in entry.options.get("fixed", {}).items()}
    large = entry.options.get("large_budgets", {"candidates": {}})["candidates"]
    parts = {"candidates": entry.options["candidates"], "fixed": fixed}
    for part, arguments in (parts | {"large_budgets.candidates": large}).items():
        key = f"{section}.methods.{entry.method}.{part}"
        for name, values in arguments.items():
            if name not in known:
                raise ValueError(unknown_key(key, name, known))
            for value in values:
                if name in STEPS and isinstance(value, str):
                    raise ValueError(f"{key}.{name}: a number expected, got {value!r}")
                conform(value, known[name] | {"$defs": schema["$defs"]}, f"{key}.{name}")


def lists(entry, budget):
    """Values of the arguments of candidates at a budget."""
    tried, large = entry.options["candidates"], entry.options.get("large_budgets")
    return tried | large["candidates"] if large and budget >= large["at_least"] else tried


def _combinations(entry, budget):
    return itertools.product(*lists(entry, budget).values())


def _affordable(config, entry, budget, combinations):
    """Settings by combination that a budget pays for, whether their votes can be read or not."""
    names, kind = lists(entry, budget), get_algorithm(entry.algorithm)
    size = configuration.size(config)
    most = entry.options.get("most_rounds_in_all", math.inf)
    found = {}
    for values in combinations:
        setting = _setting(config, entry) | dict(zip(names, values, strict=True))
        if setting["perturbation"] == "theorem":
            setting["perturbation"] = None
        if kind.has_steps:
            questions = kind.effort(*size, setting["rounds"])[1]
            setting["iterations"] = budget // (questions * setting["evaluators"])
            possible = 1 <= setting["iterations"] <= most / setting["rounds"]
        else:
            questions = kind.effort(*size, 1)[1]
            room = questions * config["comparison"]["most_pairs"]
            setting["evaluators"] = math.ceil(budget / room)
            answers = questions * setting["evaluators"] * setting["iterations"]
            setting["rounds"] = budget // answers
            possible = setting["rounds"] >= 1
        if possible:
            found[values] = setting
    return found


def _readable(config, evaluators, estimator):
    """Whether an estimator can be used with M people."""
    setting = {"evaluators": evaluators, "horizon": config["horizon"], "link": config["link"]}
    try:
        configuration.require_estimates(config, setting | {"estimator": estimator or "plug-in"})
    except ValueError:
        return False
    return True


def _setting(config, entry):
    """What all candidates have in common."""
    setting = {"horizon": config["horizon"], "link": config["link"], "rounds": 1}
    setting |= {"iterations": 1, "primal_step": 0.0, "dual_step": 0.0, "perturbation": None}
    if entry.design != OWN_DESIGN:
        setting["design"] = entry.design
    return setting | entry.options.get("fixed", {})
