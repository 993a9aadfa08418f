r"""What jobs ask for: time from their work, memory from the size of their environment.

An iteration samples K trajectories of H + 1 steps, puts Q questions to evaluators, updates |S||A|
numbers, and has its policy evaluated by a linear solve:

.. math:: c_0 + c_1 K (H + 1) + (c_2 + c_3 M) Q + c_4 |S||A| + c_5 |S|^2

Memory goes to the :math:`|S|^2|A|` transition probabilities; T and the number of seeds hardly
matter. The constants are those of one core (`python -m benchmarks.costs` measures them). Requests
are several times the estimate: cores differ, nodes are shared, and a job that was killed has cost
more than one that asked for too much. One that was killed is tried again with more.
"""

import math

from pgpd_hf.algorithms import get_algorithm

# Seconds of one core.
ITERATION = 8e-7
STEP = 8.5e-9  # of a trajectory
QUESTION = 3e-8
VOTE = 8e-11
ENTRY = 3e-8  # of the policy
EVALUATION = 1.6e-8  # times |S|^2
EXACT_ITERATION = 6e-5  # of an exact method: Python, not a kernel
EXACT_ENTRY = 1.2e-6
FIT = 0.03  # of a policy to answers
FITTED = 2e-6  # a question that it is fitted to, each time
RUN = 0.02  # optimum, tables
START = 10.0  # imports, and kernels to compile on a node that has none of them yet
ANALYSIS = 60.0  # of a job that only reads: a notebook, its pictures and its page
CERTIFIED_ITERATION = 3e-4  # with every part of its error
CERTIFIED_DRAW = 0.2  # a small random CMDP and its certificate
BOUND_RUN = 6.0  # of the checks of all lemmas and theorems
BOUND_CELL = 0.5  # of bounds with their best step sizes, and first lengths
SEEN = 4  # times the time of a run, to keep what it shows
PREDICTION = 0.5  # of whether a setting settles
PROOF_CASE = 3.0  # of the checks of all steps of the proofs

# Megabytes.
JOB = 950  # Python with its packages, and the two Snakemakes of a Slurm job around it
TRANSITION = 2e-4  # a transition probability, in all tables that are made of it
TRACES = 600  # all that a table or a page is made from, read, joined and sorted
CERTIFIED_ENTRY = 1.2e-4  # an entry of each iterate's policy, and of all estimates beside it

TIME_MARGIN = 4
MEMORY_MARGIN = 1.5
LEAST_MINUTES = 5


def run_seconds(algorithm, setting, states, actions):
    """Seconds of one core that a run takes."""
    kind = get_algorithm(algorithm)
    trajectories, questions = kind.effort(states, actions, setting["rounds"])
    iteration = EXACT_ITERATION + EXACT_ENTRY * states * actions
    if trajectories:
        iteration = ITERATION + STEP * trajectories * (setting["horizon"] + 1)
        question = QUESTION + VOTE * (setting.get("evaluators") or 0)
        iteration += question * questions + ENTRY * states * actions
        if not kind.has_steps:
            # Every round fits all answers so far.
            iteration += FIT + FITTED * questions * (setting["iterations"] + 1) / 2
    return RUN + setting["iterations"] * (iteration + EVALUATION * states**2)


def seconds(cases, size):
    """Seconds of one core that cases take; `size` is that of the study's own environment."""
    return sum(
        len(case.seeds) * run_seconds(case.algorithm, case.setting | phase, *case.size(size))
        for case in cases
        for phase in case.setting.get("phases", [{}])
    )


def minutes(work, attempt=1):
    """Minutes of wall time to ask for; each failed attempt asks for as much again."""
    return attempt * max(LEAST_MINUTES, math.ceil(TIME_MARGIN * (START + work) / 60))


def megabytes(states, actions, more=0.0, attempt=1):
    """Megabytes to ask for: for the largest environment, and `more` for what else is kept."""
    needed = JOB + TRANSITION * states**2 * actions + more
    return attempt * math.ceil(MEMORY_MARGIN * needed)


def corrected_seconds(config, size, runs=0):
    """Seconds of the corrected bounds; of all runs, times a number, or of the short ones alone."""
    options = config["bounds"]["corrected"]
    cells = 2 * 3 + 1  # three corrected statements with either estimator, and the printed one
    found = 0.0
    for part in options["seen"]:
        lengths = part["iterations"]
        if not runs:
            most = options["measured"] // part["rounds"]
            lengths = [t for t in options["iterations"] if t <= most]
        for evaluators in config["evaluators"]:
            setting = {"rounds": part["rounds"], "horizon": config["horizon"]}
            setting |= {"iterations": sum(lengths), "evaluators": evaluators}
            run = run_seconds("npgpd_hf", setting, *size)
            found += (runs or cells) * options["seeds"] * run + cells * BOUND_CELL
    return found
