"""Studies as they are run: checked as a whole, and without what does not apply to them.

Snakemake merges a study's file into config/config.yaml, so that a study can add and change, but not
take away. But some of what config/config.yaml says is about its own environment or algorithms, and
for another study it would be refused or would mean something else. It is taken away here:

* if the environment comes from a file, which holds one CMDP, all that is about others;
* if a study changes its environment, what was chosen for that of config/config.yaml, unless the
  study says it itself: settings of bounds and readings with an environment of their own, and the
  numbers of random instances;
* if a study drops an algorithm (`zpgpd_hf: null`), all that is about it;
* readings that it has not chosen and that its environment, M or H make impossible, such as
  estimates without bias from few people.

And some defaults are made to fit another environment: the horizon, and Theorem 2's perturbation
radius where it cannot be used.
"""

import copy
import math
from functools import cache
from pathlib import Path

from pgpd_hf import environments
from pgpd_hf.algorithms import ALGORITHMS, get_algorithm
from pgpd_hf.algorithms.zpgpd_hf import SMALLEST, theorem_perturbation
from pgpd_hf.core.arguments import located, shown
from pgpd_hf.core.evaluators import evaluators_text
from pgpd_hf.core.links import get_link
from pgpd_hf.core.sampling import absorbing_states
from pgpd_hf.races import STEPS
from pgpd_hf.runs import CUT_OFF, default_horizon
from replication import analyses, sweeps
from replication.files import validation
from replication.statements import declaration
from replication.study import configuration, readings, recorded_races

_RADIUS = 1.0  # as in config/readings/fixed-mu.yaml
_RADII = (0.3, 1, 3)  # that race where Theorem 2's is no use


def admit(config, folder, own, defaults):
    """Refuse a study that cannot be run; leave out what does not apply to it.

    Parameters
    ----------
    config : dict
        The configuration; stays as it is.
    folder : path-like
        Where the Snakefile is.
    own : dict
        What the study says itself, in its file and on the command line.
    defaults : dict
        What config/config.yaml says.

    Returns
    -------
    config : dict
        What is run.
    lines : list of str
        What is left out, and why; which step sizes need a new race.

    Raises
    ------
    ValueError
        One line that names the key, the value and what is allowed.
    """
    schema = load_schema(folder, "config")
    config = _fill_steps(config)
    _refuse_unknown_algorithms(config, schema)
    validation.conform(config, schema)
    _refuse_contradictions(own.get("environment", {}), defaults["environment"])
    config, lines = settle(config, folder, own, defaults)
    configuration.check(config, schema)
    configuration.check_bounds(config, schema)
    for analysis in analyses.find().values():
        analysis.check(config, schema)
    more = [Path(folder, path) for path in config["claims"]["statements"]]
    declaration.load_claims(Path(folder, "config/claims.yaml"), load_schema(folder, "claims"), more)
    loaded = load_readings(config, folder)
    readings.check(config, loaded, schema)
    for path in more:
        _refuse_unknown_names(path, config, loaded)
    record = recorded_races.load_record(folder)
    lines += configuration.low_bounds(config)
    return config, lines + recorded_races.lines(record, config, defaults)


def _fill_steps(config):
    """Give the step sizes that the schema asks for to algorithms that make no steps."""
    config = copy.deepcopy(config)
    found = config["algorithms"]
    for name in [*ALGORITHMS] if isinstance(found, dict) else []:
        if isinstance(found.get(name), dict) and not ALGORITHMS[name].has_steps:
            found[name] = dict.fromkeys(STEPS, "theorem") | found[name]
    return config


def _refuse_unknown_algorithms(config, schema):
    """Refuse a name or a key of an algorithm before the schema, which knows no single one."""
    entries = schema["properties"]["algorithms"]["additionalProperties"]["properties"]
    found = config["algorithms"]
    for name, options in found.items() if isinstance(found, dict) else []:
        with located("algorithms"):
            allowed = get_algorithm(name).known(entries)
        unknown = set(options) - set(entries) if isinstance(options, dict) else None
        if unknown:
            key = min(unknown, key=str)
            raise ValueError(validation.unknown_key(f"algorithms.{name}", key, allowed))


def _refuse_unknown_names(path, config, loaded):
    """Refuse own statements about what no run of the study, or of a reading, is about."""
    changed = [reading["config"].get("evaluators", []) for reading in loaded.values()]
    people = [case for parts in sweeps.plan(config, ["people"]).values() for case in parts[0][1]]
    horizons = [case for parts in sweeps.plan(config, ["horizon"]).values() for case in parts[0][1]]
    groups = config["claims"]["instances"]["groups"]
    curves = [case.labels["curve"] or None for case in people]
    known = {
        "algorithm": config["algorithms"],
        "than": config["algorithms"],
        "groups": [name for name, group in groups.items() if group["numbers"]],
        "schedule": config["schedules"]["phases"],
        "curve": curves,
        "curves": curves,
        "horizons": [case.labels["value"] for case in horizons],
    }
    numbers = {
        "falls_at_rate": config["rates"]["evaluators"],
        "slower_rate": config["rates"]["evaluators"],
        "larger_bias": [case.labels["value"] for case in people],
    }
    usual = sum(changed, config["evaluators"])
    for name, claim in validation.read_yaml(path)["claims"].items():
        options = claim["criterion"]
        allowed = known | {"evaluators": numbers.get(options["test"], usual)}
        for key in [key for key in options if key in allowed]:
            given = options[key] if isinstance(options[key], list) else [options[key]]
            for value in given:
                if value not in allowed[key]:
                    listed = ", ".join(str(it) for it in dict.fromkeys(allowed[key])) or "none"
                    raise ValueError(
                        f"{path}: claims.{name}.criterion.{key}: the study has no {shown(value)} "
                        f"(it has: {listed})"
                    )


def settle(config, folder, own, defaults):
    """Leave out what does not apply, as :func:`admit` does, but check nothing.

    Parameters
    ----------
    config, folder, own, defaults
        As for :func:`admit`; the configuration follows its schema.

    Returns
    -------
    config, lines
        As of :func:`admit`, but without what is about races.
    """
    config = copy.deepcopy(config)
    if environments.split(config["environment"])[0] not in ("random", "file"):
        # The keys of config/config.yaml are those of random environments.
        config["environment"] = copy.deepcopy(own["environment"])
    # Merged, a study's own algorithms come first; people look for each in its usual place.
    found = config["algorithms"]
    order = dict.fromkeys([*defaults["algorithms"], *found])
    config["algorithms"] = {name: found[name] for name in order if name in found}
    compared = config["comparison"]["methods"]
    _drop_methods(config, [name for name, options in compared.items() if options is None])
    dropped = [name for name, options in config["algorithms"].items() if not options]
    lines = [_drop(config, name, folder) for name in dropped]
    lines += _leave_out(config, folder, own, defaults)
    lines += _leave_out_people(config, own)
    lines += _fit(config, own, defaults)
    lines += _leave_out_impossible(config, folder, own, defaults)
    record = recorded_races.load_record(folder)
    config["claims"]["ties"] = recorded_races.ties(record, config) | config["claims"]["ties"]
    return config, lines


def _refuse_contradictions(own, defaults):
    """Refuse an environment that is described twice."""
    kinds = [key for key in ("name", "gymnasium", "file") if own.get(key) is not None]
    if len(kinds) > 1:
        raise ValueError(f"environment: {' or '.join(kinds)} expected, not both")
    beside = [key for key, value in own.items() if defaults.get(key, value) != value]
    idle = sorted(set(beside) - {"file"})
    if kinds == ["file"] and idle:
        raise ValueError(
            f"environment.{idle[0]}: already set by the CMDP in {own['file']}; "
            f"leave {idle[0]} out, or change it there"
        )


def _drop(config, algorithm, folder):
    """Remove an algorithm and all that is about it."""
    del config["algorithms"][algorithm]
    tables = [config[part]["iterations"] for part in ("rates", "certificates")]
    tables += [config[part]["algorithms"] for part in ("schedules", "grid")]
    for sweep in config["sweeps"].values():
        tables.append(sweep["algorithms"])
        if isinstance(sweep["seeds"], dict):
            tables.append(sweep["seeds"])
    groups = config["claims"]["instances"]["groups"].values()
    tables += [group["algorithms"] for group in groups if "algorithms" in group]
    for table in tables:
        for name in [name for name in table if sweeps.studied(name) == algorithm]:
            del table[name]
    if config["algorithms"]:  # without any, that is what is refused
        idle = [name for name, sweep in config["sweeps"].items() if not sweep["algorithms"]]
        _remove(config, "sweeps", idle)
    if "npgpd_hf" not in config["certificates"]["iterations"]:
        config["certificates"]["iterations"] = {}  # the page explains the parts by its runs
    compared = config["comparison"]["methods"].items()
    _drop_methods(config, [name for name, it in compared if it["algorithm"] == algorithm])
    idle = [name for name, it in load_readings(config, folder).items() if readings.is_idle(it)]
    _remove(config, "claims.readings", idle)
    return f"left out, since the study has no {algorithm}: all that is about it"


def _drop_methods(config, names):
    """Remove methods of the comparison and all that is about them."""
    _remove(config, "comparison.methods", names)
    for side in ("skipping", "inferring"):
        _remove(config, f"comparison.misspecification.{side}", names)
    told = config["comparison"]["statements"].items()
    idle = [name for name, it in told if {it["better"], it["than"]} & {*names}]
    _remove(config, "comparison.statements", idle)


def _leave_out(config, folder, own, defaults):
    """Remove what the study's environment rules out."""
    random = configuration.is_random(config["environment"])
    lines = _leave_out_corollary(config, own)
    changed = [
        f"environment.{key}"
        for key, value in own.get("environment", {}).items()
        if defaults["environment"].get(key) not in (None, value)
    ]
    # Another draw is as good as that of config/config.yaml.
    if random and not set(changed) - {"environment.instance"}:
        return lines

    def inherited(*keys):
        return not random or not _says(own, keys)

    left = {
        "bounds.settings": [
            name
            for name, options in config["bounds"]["settings"].items()
            if _differs(options["environment"])
            and inherited("bounds", "settings", name, "environment")
        ],
        "claims.readings": [
            name
            for name, reading in load_readings(config, folder).items()
            if _differs(reading["config"].get("environment", {}))
            and inherited("claims", "readings")
        ],
        "claims.instances.groups": [
            name
            for name in config["claims"]["instances"]["groups"]
            if inherited("claims", "instances", "groups", name, "numbers")
        ],
    }
    group = config["comparison"]["group"]
    if group in left["claims.instances.groups"]:  # on whose instances methods are tuned
        left["comparison.methods"] = list(config["comparison"]["methods"])
    if not random:
        left["sweeps"] = [name for name in sweeps.SIZES if name in config["sweeps"]]
        left["grid.algorithms"] = list(config["grid"]["algorithms"])
    for key, names in left.items():
        _remove(config, key, names)
    listed = "; ".join(f"{key}: {', '.join(names)}" for key, names in left.items() if names)
    if not random:
        what = configuration.describe(config["environment"])
        reason = f"since the CMDP {what} is a single one, not a random family"
        advice = ""
    else:
        differs = ", ".join(changed)
        reason = f"since chosen for the default environment, from which this differs in {differs}"
        advice = (
            ". To keep one, set it in your file: bounds.settings.NAME.environment, "
            "claims.readings, or claims.instances.groups.NAME.numbers"
        )
    return [f"left out, {reason}: {listed}{advice}", *lines] if listed else lines


def _leave_out_corollary(config, own):
    """Remove sweeps over the corollary's H, which is undefined at discount 0."""
    names = [
        name
        for name, sweep in config["sweeps"].items()
        if not _says(own, ("sweeps", name))
        and any("corollary" in grid.values() for grid in sweep["algorithms"].values())
    ]
    if configuration.environment(config).discount > 0:
        return []
    return _leave_out_names(config, "sweeps", names, "no corollary of Theorem 1 at discount 0")


def _leave_out_people(config, own):
    """Remove people who would vote by another link than assumed, where that is the study's."""
    people = config["comparison"]["misspecification"]["people"]
    names = [
        name
        for name, options in people.items()
        if options.get("true_link") == config["link"]
        and not _says(own, ("comparison", "misspecification", "people", name))
    ]
    key = "comparison.misspecification.people"
    return _leave_out_names(config, key, names, f"link: {config['link']}")


def _fit(config, own, defaults):
    """Make defaults fit the environment, and say what they are."""
    options = config["environment"]
    single = not configuration.is_random(options)
    cmdp, lines = configuration.environment(config), []
    usual = defaults["horizon"]
    if not _says(own, ("horizon",)) and (fit := default_horizon(cmdp.discount)) != usual:
        config["horizon"] = fit
        for name, setting in config["bounds"]["settings"].items():
            if not _says(own, ("bounds", "settings", name, "horizon")):
                setting["horizon"] = fit
        lines.append(
            f"horizon: {fit} instead of {usual}, so that at most {CUT_OFF:g} of the largest value "
            f"comes after the end of a trajectory (discount {cmdp.discount:g})"
        )
    if ends := int(absorbing_states(cmdp).sum()):
        lines.append(
            f"trajectories: end in {ends} absorbing state{'s' * (ends > 1)}; what would follow is "
            "added in closed form"
        )
    for name in config["algorithms"]:
        lines += _fit_radius(config, own, defaults, name, cmdp)
    if not single:
        return lines
    most = f"values lie in [0, {cmdp.value_bound:g}]"
    if cmdp.value_bound > 1 + 1e-9:
        most += (
            ", where votes are almost unanimous and say little; divide rewards, utilities, "
            f"threshold and scale by {cmdp.value_bound:g} for values in [0, 1]"
        )
    lengths = ", ".join(f"{it['iterations']} ({name})" for name, it in config["algorithms"].items())
    settled = "claims.csv says whether the curves have settled by then"
    return [f"scale: {most}", *lines, f"iterations: {lengths}; {settled}"]


def _fit_radius(config, own, defaults, algorithm, cmdp):
    """Say which perturbation radius an algorithm has; where Theorem 2's is no use, let it race."""
    options, key = config["algorithms"][algorithm], f"algorithms.{algorithm}.perturbation"
    if "perturbation" not in options:
        return []
    lines = _leave_out_radius(config, own, algorithm, cmdp)
    before = options["perturbation"]
    if before != "calibrated" and (before != "theorem" or _says(own, tuple(key.split(".")))):
        return lines
    single, rates = not configuration.is_random(config["environment"]), config["rates"]
    numbers = dict.fromkeys([*config["evaluators"], *rates["evaluators"]])
    radii = {number: _theorem_radius(config, cmdp, number) for number in numbers}
    widest = math.sqrt(2 * cmdp.states)  # no two policies are further apart
    unusable = {number for number, radius in radii.items() if not SMALLEST < radius <= widest}
    chosen = _says(own, ("rates", "evaluators")) or algorithm not in rates["iterations"]
    # The rates can do without M = infinity.
    left = set() if chosen else unusable & ({None} - {*config["evaluators"]})
    listed = _listed(radii, [number for number in radii if number not in left])
    if unusable - left:
        listed += (
            ", of which some are zero or beyond all policies, which are at most "
            f"sqrt(2 |S|) = {widest:.3g} apart"
        )
    after = options["perturbation"] = _choose_radius(options, single, bool(unusable - left))
    if after == "theorem" and left:
        _remove(config, "rates.evaluators", left)
        lines.append(f"left out: null of rates.evaluators ({key}: {_listed(radii, left)})")
    exact = None in config["evaluators"]
    usual = not (single or exact) and cmdp.discount == defaults["environment"]["discount"]
    if usual and after == before:
        return lines
    if after == before == "calibrated":
        said = f"races with the steps; Theorem 2's would be {listed}"
    elif after == "calibrated":
        candidates = config["calibration"]["candidates"].get(algorithm, {})
        among = ", ".join(f"{it:g}" for it in candidates.setdefault("perturbation", list(_RADII)))
        said = f"races with the steps, among {among}; Theorem 2's would be {listed}"
    elif after == "theorem":
        noise = "; noise grows like 1/mu, so that M = inf may do worse than few people"
        said = f"Theorem 2's, {listed}{noise if exact else ''}"
    else:
        said = f"{after} instead of Theorem 2's, {listed}"
    return [*lines, f"{key}: {said}"]


def _choose_radius(options, single, unusable):
    """Race or number, where Theorem 2's radius cannot be used; a single CMDP races if it can."""
    if options["perturbation"] == "calibrated":
        return "calibrated"
    if options["primal_step"] == "calibrated" and (single or unusable):
        return "calibrated"
    return _RADIUS if unusable else "theorem"


def _theorem_radius(config, cmdp, evaluators):
    """Theorem 2's perturbation radius at the horizon and the link of a study."""
    link, bound = get_link(config["link"]), cmdp.return_bound(config["horizon"])
    return theorem_perturbation(cmdp.discount, config["horizon"], evaluators, link, bound)


def _listed(radii, numbers):
    """Radii for some M, in words."""
    return ", ".join(f"{radii[m]:.3g} (M = {evaluators_text(m)})" for m in numbers)


def _leave_out_radius(config, own, algorithm, cmdp):
    """Remove Theorem 2's radius from sweeps whose own it is not, and that it would stop."""
    lines = []
    for name, sweep in config["sweeps"].items():
        grid = sweep["algorithms"].get(algorithm, {})
        if not isinstance(grid.get("perturbation"), list) or _says(own, ("sweeps", name)):
            continue
        if "theorem" not in grid["perturbation"]:
            continue
        radii = {
            m: _theorem_radius(config, cmdp, m)
            for m in grid.get("evaluators", config["evaluators"])
        }
        if idle := [m for m, radius in radii.items() if not SMALLEST < radius < math.inf]:
            key = f"sweeps.{name}.algorithms.{algorithm}.perturbation"
            _remove(config, key, ["theorem"])
            lines.append(f"left out: theorem of {key} ({_listed(radii, idle)})")
    return lines


def _leave_out_impossible(config, folder, own, defaults):
    """Remove readings that the study has not chosen itself and that cannot be run."""
    what = ("environment", "evaluators", "link", "horizon", "algorithms", "calibration")
    if _says(own, ("claims", "readings")) or all(config[key] == defaults[key] for key in what):
        return []
    refused = {}
    for name, reading in load_readings(config, folder).items():
        try:
            configuration.check_runs(readings.overlay(config, reading["config"]))
        except ValueError as error:
            refused.setdefault(str(error), []).append(name)
    lines = []
    for reason, names in refused.items():
        lines += _leave_out_names(config, "claims.readings", names, reason)
    return lines


def load_readings(config, folder):
    """Read the readings of a study, without what they say about algorithms that it has dropped.

    Parameters
    ----------
    config : dict
        A configuration.
    folder : path-like
        Where the Snakefile is.

    Returns
    -------
    dict
        Readings by name, without what is about algorithms that the study lacks.
    """
    schema = load_schema(folder, "reading")
    return {
        name: readings.restrict(
            readings.load_reading(Path(folder, "config/readings"), name, schema),
            config["algorithms"],
        )
        for name in config["claims"]["readings"]
    }


@cache
def load_schema(folder, name):
    """Read a JSON Schema, once.

    Parameters
    ----------
    folder : path-like
        Where the Snakefile is.
    name : str
        Kind of configuration file: "config", "claims" or "reading".

    Returns
    -------
    dict
    """
    return validation.read_yaml(Path(folder, f"workflow/schemas/{name}.schema.yaml"))


def _differs(changes):
    """Whether changes of an environment describe a random one; a file holds a CMDP as it is."""
    return bool(set(changes) - {"file"})


def _says(own, keys):
    """Whether a study says something itself."""
    return not keys or (keys[0] in own and _says(own[keys[0]], keys[1:]))


def _leave_out_names(config, key, names, reason):
    """Remove entries of a table or a list, if there are any, and say so in a line."""
    _remove(config, key, names)
    return [f"left out: {key}: {', '.join(names)} ({reason})"] if names else []


def _remove(config, key, names):
    """Remove entries of a table or a list."""
    *parents, last = key.split(".")
    for parent in parents:
        config = config[parent]
    kept = [name for name in config[last] if name not in names]
    config[last] = (
        {name: config[last][name] for name in kept} if isinstance(config[last], dict) else kept
    )
