"""Compile all kernels before jobs that start side by side would each compile them.

`make` calls this after the installation and after a change of a kernel. Whatever is missing all the
same is compiled at its first use.
"""

from concurrent.futures import ProcessPoolExecutor

import pgpd_hf

KERNELS = ("npgpd_hf", "zpgpd_hf", "safe_rlhf", "zpg")  # the algorithms that have some
SETTING = {"horizon": 2, "primal_step": 0.1, "dual_step": 0.1, "perturbation": 1.0}


def compile_for(name):
    """Compile what an algorithm needs, by running it."""
    cmdp = pgpd_hf.random_cmdp(states=3, actions=2, instance=1)
    options = pgpd_hf.ALGORITHMS[name].pick(SETTING)
    for evaluators in (16, None):
        pgpd_hf.run(cmdp, name, evaluators=evaluators, seeds=[0], iterations=2, **options)


if __name__ == "__main__":
    # Each in a process of its own, since Numba compiles one kernel at a time.
    with ProcessPoolExecutor(len(KERNELS)) as pool:
        list(pool.map(compile_for, KERNELS))  # a list, so that errors are raised
