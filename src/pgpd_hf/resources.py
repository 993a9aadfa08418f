r"""What a job needs: time and memory from its work, and how many seeds fill a job.

An iteration samples K trajectories of H + 1 steps, puts Q questions to people, updates |S||A|
numbers, and has its policy evaluated by a linear solve:

.. math:: c_0 + c_1 K (H + 1) + c_2 Q + c_3 |S||A| + c_4 |S|^2

Memory goes to the :math:`|S|^2|A|` transition probabilities. Neither T nor the number of seeds
matters where iterates are not kept.

The constants below were measured on one core (`python tools/measure_costs.py` prints those of
another machine), times for |S| from 5 to 80, memory up to 800. Requests are several times the
estimate, because cores differ, nodes are shared and a job that is killed has cost more than one
that was given too much; a job that was killed is tried again with more. docs/cluster.md sets
requests beside measured use.
"""

import math

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.analyses import grid, sweeps
from pgpd_hf.studies import configuration

# Seconds of one core.
ITERATION = 8e-7
STEP = 8.5e-9  # of a trajectory
QUESTION = 8e-8  # M hardly matters
ENTRY = 3e-8  # of the policy
EVALUATION = 1.6e-8  # times |S|^2
EXACT_ITERATION = 6e-5  # of a method that asks nobody: Python, not a kernel
EXACT_ENTRY = 1.2e-6
RUN = 0.02  # what comes before and after the iterations: optima, tables, data frames
CERTIFIED_ITERATION = 3e-4  # with every part of its error, exactly
CERTIFIED_DRAW = 0.2  # a small random problem and its certificate
BOUND_RUN = 2.0  # the lemmas' own sampling, for each seed of a setting
START = 10.0  # imports, and kernels to compile on a node that has none of them yet
NOTEBOOK = 60.0  # kernel, pictures, page

# Megabytes.
JOB = 950  # Python with its packages, and the two Snakemakes of a Slurm job around it
TRANSITION = 2e-4  # one of |S|^2 |A| probabilities, in all tables that are made of them
# By count of what is kept of each iterate.
CERTIFIED_ENTRY = 1.2e-4  # one entry of the policy, and of all estimates beside it
SCHEDULED_ITERATE = 2e-4
ROW = 500e-6  # of a table that is read, joined and sorted

# Rules whose jobs run something; all others read tables.
SIMULATING = (
    *("calibrate", "simulate", "run_rates", "run_sweep", "run_schedules", "run_grid"),
    *("instance_runs", "sensitivity", "certify", "bound"),
)

TIME_MARGIN = 4
MEMORY_MARGIN = 1.5
LEAST_MINUTES = 5


def run_seconds(algorithm, setting, states, actions, evaluated=True):
    r"""Time of one run.

    Parameters
    ----------
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.
    setting : dict
        `iterations`, `pairs` and `horizon`: T, N and H.
    states, actions : int
        Size of the process.
    evaluated : bool
        Whether every policy's values are computed, or only those of a few.

    Returns
    -------
    float
        Seconds of one core.
    """
    trajectories, questions = get_algorithm(algorithm).effort(states, actions, setting["pairs"])
    if trajectories:
        iteration = ITERATION + STEP * trajectories * (setting["horizon"] + 1)
        iteration += QUESTION * questions + ENTRY * states * actions
    else:
        iteration = EXACT_ITERATION + EXACT_ENTRY * states * actions
    if evaluated:
        iteration += EVALUATION * states**2
    return RUN + setting["iterations"] * iteration


def filling(study, seconds):
    """How many pieces of work last about as long as a job shall.

    Parameters
    ----------
    study : dict
        A configuration: its `job_minutes`.
    seconds : float
        Time that one piece takes.

    Returns
    -------
    int
        At least 1.
    """
    return max(1, int(60 * study["job_minutes"] / seconds))


def seeds_per_job(study, seconds):
    """How many seeds one job runs.

    The number does not depend on how many seeds there are, so that more of them leave whole blocks
    as they are.

    Parameters
    ----------
    study : dict
        A configuration: its `block`, the largest number, and its `job_minutes`.
    seconds : float
        Time that one seed takes.

    Returns
    -------
    int
        At least 1.
    """
    fitting = filling(study, seconds)
    return min(study["block"] or fitting, fitting)


def blocks(count, size):
    """Split 0, 1, ..., count - 1 into blocks.

    Parameters
    ----------
    count, size : int
        How many there are, and how many of them one block holds.

    Returns
    -------
    list of str
        First and last of each block, such as "0000-0009", as in names of files.
    """
    return [f"{first:04d}-{min(first + size, count) - 1:04d}" for first in range(0, count, size)]


def run_blocks(study, algorithm, evaluators):
    """Blocks of seeds of an algorithm's runs.

    Parameters
    ----------
    study : dict
        A configuration.
    algorithm : str
        A key of its `algorithms`.
    evaluators : str
        M, or several of them joined by "+", which one job runs.

    Returns
    -------
    list of str
        As of :func:`blocks`.
    """
    seconds = _seed_seconds(study, algorithm, evaluators)
    return blocks(study["seeds"], seeds_per_job(study, seconds))


def rate_blocks(study, algorithm):
    """Blocks of seeds of the sweep that measures rates.

    Parameters
    ----------
    study : dict
        A configuration.
    algorithm : str
        A key of its `algorithms`.

    Returns
    -------
    list of str
        As of :func:`blocks`.
    """
    fitting = seeds_per_job(study, _rate_seed_seconds(study, algorithm))
    return blocks(study["rates"]["seeds"], fitting)


def instance_blocks(study, group, algorithm):
    """Blocks of a group of random instances, each with its calibration and all its runs.

    Parameters
    ----------
    study : dict
        The configuration of the group.
    group : str
        A key of its `claims.instances.groups`.
    algorithm : str
        A key of its `algorithms`.

    Returns
    -------
    list of str
        First and last number of each block.
    """
    numbers = sorted(study["claims"]["instances"]["groups"][group]["numbers"])
    size = filling(study, _instance_seconds(study, algorithm))
    starts = range(0, len(numbers), size)
    return [f"{numbers[k]:04d}-{numbers[k:][:size][-1]:04d}" for k in starts]


def instances(study, job):
    """Which instances of its group a job runs.

    Parameters
    ----------
    study : dict
        The configuration of the group.
    job : mapping
        Wildcards of the job, as text: `group`, and the `first` and the `last` of a block.

    Returns
    -------
    list of int
    """
    numbers = sorted(study["claims"]["instances"]["groups"][job["group"]]["numbers"])
    return [number for number in numbers if int(job["first"]) <= number <= int(job["last"])]


def sensitivity_blocks(study, algorithm, axis):
    """Blocks of the settings around the study's along one axis.

    Parameters
    ----------
    study : dict
        A configuration.
    algorithm : str
        A key of its `algorithms`.
    axis : str
        One of :data:`pgpd_hf.analyses.sensitivity.AXES`.

    Returns
    -------
    list of str
        As of :func:`blocks`.
    """
    costs = _setting_seconds(study, algorithm, axis)
    return blocks(len(costs), filling(study, max(costs)))


def sweep_blocks(study, sweep, algorithm):
    """Blocks of seeds of a sweep. An exact method has no seeds, so it runs once.

    Parameters
    ----------
    study : dict
        A configuration.
    sweep : str
        A key of its `sweeps`.
    algorithm : str
        One that the sweep names.

    Returns
    -------
    list of str
        As of :func:`blocks`.
    """
    count = 1 if algorithm in sweeps.LIMITS else study["sweeps"][sweep]["seeds"]
    return blocks(count, seeds_per_job(study, _sweep_seed_seconds(study, sweep, algorithm)))


def schedule_blocks(study, algorithm):
    """Blocks of seeds of the schedules.

    Parameters
    ----------
    study : dict
        A configuration.
    algorithm : str
        One that the schedules name.

    Returns
    -------
    list of str
        As of :func:`blocks`.
    """
    seconds = _schedule_seed_seconds(study, algorithm)
    return blocks(study["schedules"]["seeds"], seeds_per_job(study, seconds))


def grid_blocks(study, algorithm):
    """Blocks of the grid: all seeds of several instances, or several seeds of one.

    Parameters
    ----------
    study : dict
        A configuration.
    algorithm : str
        One that the grid names.

    Returns
    -------
    list of tuple of str
        Block of instances and block of seeds.
    """
    options = study["grid"]
    fitting = seeds_per_job(study, _grid_seed_seconds(study, algorithm))
    together = max(1, fitting // options["seeds"])
    return [
        (instances, seeds)
        for instances in blocks(options["instances"], together)
        for seeds in blocks(options["seeds"], min(fitting, options["seeds"]))
    ]


def seconds(rule, study, job):
    """Time that a job is expected to take on one core.

    Parameters
    ----------
    rule : str
        Name of a rule.
    study : dict
        The configuration that the job belongs to.
    job : mapping
        Wildcards of the job, as text.

    Returns
    -------
    float
        Seconds.
    """
    match rule:
        case "calibrate":
            work = _calibration_seconds(study, job["algorithm"])
        case "simulate":
            work = _count(job) * _seed_seconds(study, job["algorithm"], job["evaluators"])
        case "run_rates":
            work = _count(job) * _rate_seed_seconds(study, job["algorithm"])
        case "run_sweep":
            work = _count(job) * _sweep_seed_seconds(study, job["sweep"], job["algorithm"])
        case "run_schedules":
            work = _count(job) * _schedule_seed_seconds(study, job["algorithm"])
        case "run_grid":
            work = _count(job) * (int(job["last_instance"]) - int(job["first_instance"]) + 1)
            work *= _grid_seed_seconds(study, job["algorithm"])
        case "instance_runs":
            work = len(instances(study, job)) * _instance_seconds(study, job["algorithm"])
        case "sensitivity":
            costs = _setting_seconds(study, job["algorithm"], job["axis"])
            work = sum(costs[int(job["first"]) : int(job["last"]) + 1])
        case "certify":
            options = study["certificates"]
            work = len(study["evaluators"]) * options["seeds"] * CERTIFIED_ITERATION
            work *= options["iterations"][job["algorithm"]]
            work += options["draws"] * CERTIFIED_DRAW
        case "bound":
            work = study["bounds"]["seeds"] * BOUND_RUN
        case _:
            work = NOTEBOOK
    return START + work


def minutes(rule, study, job, attempt=1):
    """Wall time to ask for.

    Parameters
    ----------
    rule, study, job
        As for :func:`seconds`.
    attempt : int
        1, or more after failures: each asks for as much again.

    Returns
    -------
    int
        Minutes.
    """
    needed = TIME_MARGIN * seconds(rule, study, job) / 60
    return attempt * max(LEAST_MINUTES, math.ceil(needed))


def megabytes(rule, study, job, attempt=1):
    """Memory to ask for.

    Parameters
    ----------
    rule, study, job, attempt
        As for :func:`minutes`.

    Returns
    -------
    int
        Megabytes.
    """
    states, actions = _largest_size(rule, study, job)
    needed = JOB + TRANSITION * states**2 * actions
    match rule:
        case "certify":
            length = study["certificates"]["iterations"][job["algorithm"]]
            needed += CERTIFIED_ENTRY * length * states * actions
        case "run_schedules":
            length = study["schedules"]["algorithms"][job["algorithm"]]["iterations"]
            needed += SCHEDULED_ITERATE * length
        case _ if rule not in SIMULATING:
            needed += ROW * _rows(study)
    return attempt * math.ceil(MEMORY_MARGIN * needed)


def _count(job):
    """How many seeds a job runs."""
    return int(job["last"]) - int(job["first"]) + 1


def _size(study):
    """Numbers of states and actions of the study's process."""
    if study["environment"]["file"] is None:
        return study["environment"]["states"], study["environment"]["actions"]
    process = configuration.environment(study)
    return process.states, process.actions


def _largest_size(rule, study, job):
    """Numbers of states and actions of the largest process that a job runs."""
    states, actions = _size(study)
    if rule in ("run_sweep", "run_grid"):
        part = study["sweeps"][job["sweep"]] if rule == "run_sweep" else study["grid"]
        values = part["algorithms"][job["algorithm"]]
        states = _largest(values.get("states", states))
        actions = _largest(values.get("actions", actions))
    return states, actions


def _largest(values):
    """The largest of a list of numbers, or the one number."""
    return max(values) if isinstance(values, list) else values


def _rows(study):
    """Rows of all traces that one table or notebook may be made from."""
    instances = study["claims"]["instances"]
    numbers = sum(len(group["numbers"]) for group in instances["groups"].values())
    seeds = study["seeds"] + instances["seeds"] * numbers
    return 200 * len(study["algorithms"]) * len(study["evaluators"]) * seeds


def _run_seconds(study, algorithm, evaluated=True, **changes):
    """Time of a run of the study, with some settings changed."""
    setting = {"horizon": study["horizon"], **study["algorithms"][algorithm], **changes}
    return run_seconds(algorithm, setting, *_size(study), evaluated)


def _calibration_seconds(study, algorithm):
    steps = study["calibration"]["grid"][algorithm]
    pairs = len(steps["primal_step"]) * len(steps["dual_step"])
    return pairs * study["calibration"]["seeds"] * _run_seconds(study, algorithm, evaluated=False)


def _seed_seconds(study, algorithm, evaluators):
    return len(evaluators.split("+")) * _run_seconds(study, algorithm)


def _rate_seed_seconds(study, algorithm):
    lengths = study["rates"]["iterations"][algorithm]
    return sum(_run_seconds(study, algorithm, iterations=iterations) for iterations in lengths)


def _instance_seconds(study, algorithm):
    seconds = study["seeds"] * len(study["evaluators"]) * _run_seconds(study, algorithm)
    if study["algorithms"][algorithm]["primal_step"] == "calibrated":
        seconds += _calibration_seconds(study, algorithm)
    return seconds


def _case_seconds(study, algorithm, axis, values):
    """Time of all cases, for one seed."""
    states, actions = _size(study)
    discount = study["environment"]["discount"]
    return sum(
        run_seconds(
            algorithm,
            case.setting,
            case.size.get("states", states),
            case.size.get("actions", actions),
        )
        for case in sweeps.planned_cases(study, algorithm, axis, values, discount)
    )


def _sweep_seed_seconds(study, sweep, algorithm):
    options = study["sweeps"][sweep]
    return _case_seconds(study, algorithm, options["varies"], options["algorithms"][algorithm])


def _grid_seed_seconds(study, algorithm):
    return _case_seconds(study, algorithm, grid.AXIS, study["grid"]["algorithms"][algorithm])


def _schedule_seed_seconds(study, algorithm):
    options = study["schedules"]
    return sum(
        _run_seconds(
            study,
            algorithm,
            **{**options["algorithms"][algorithm], "horizon": max(lists["horizon"])},
        )
        for lists in options["phases"].values()
    )


def _setting_seconds(study, algorithm, axis):
    """Time of each setting along an axis of the sensitivity."""
    options = study["claims"]["sensitivity"]
    runs = options["seeds"] * len(study["evaluators"])
    if axis == "pairs":
        return [runs * _run_seconds(study, algorithm, pairs=pairs) for pairs in options["pairs"]]
    positions = {
        "steps": len(options["factors"]) ** 2,
        "perturbation": len(options["perturbation"]),
    }
    return positions[axis] * [runs * _run_seconds(study, algorithm)]
