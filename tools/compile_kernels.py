"""Compile the kernels of runs, before jobs that start side by side would each compile them."""

import signal
from concurrent.futures import ProcessPoolExecutor

import pgpd_hf
from pgpd_hf.tables import one_line


def compile_for(name):
    """Compile what an algorithm needs, by running it."""
    cmdp = pgpd_hf.random_cmdp(states=3, actions=2, instance=1)
    options = {"horizon": 2, "primal_step": 0.1, "dual_step": 0.1}
    for evaluators in (16, None):
        pgpd_hf.run(cmdp, name, evaluators=evaluators, seeds=[0], iterations=2, **options)


if __name__ == "__main__":
    # Each in a process of its own, since Numba compiles one kernel at a time.
    quiet = {"initializer": signal.signal, "initargs": (signal.SIGINT, signal.SIG_DFL)}
    with one_line(), ProcessPoolExecutor(2, **quiet) as pool:
        list(pool.map(compile_for, ["npgpd_hf", "zpgpd_hf"]))  # a list, so that errors are raised
