"""Compile all kernels before jobs that start side by side would each compile them.

`make` calls this after the installation and after a change of a kernel. Whatever is missing all the
same is compiled at its first use.
"""

import subprocess
import sys

import pgpd_hf

KERNELS = ("npgpd_hf", "zpgpd_hf", "safe_rlhf", "zpg")  # the algorithms that have some
SIZE = {"states": 3, "actions": 2, "instance": 1}


def compile_for(name):
    """Compile what an algorithm needs, by running it."""
    cmdp = pgpd_hf.random_cmdp(**SIZE)
    options = {"seeds": [0], "iterations": 2, "horizon": 2, "primal_step": 0.1, "dual_step": 0.1}
    if "perturbation" in pgpd_hf.ALGORITHMS[name].options:
        options["perturbation"] = 1.0
    for evaluators in (16, None):
        pgpd_hf.run(cmdp, name, evaluators=evaluators, **options)


def main():
    """Run every algorithm in a process of its own, since Numba compiles one kernel at a time."""
    commands = [[sys.executable, __file__, name] for name in KERNELS]
    processes = [subprocess.Popen(command) for command in commands]
    sys.exit(max(process.wait() for process in processes))


if __name__ == "__main__":
    if sys.argv[1:]:
        compile_for(sys.argv[1])
    else:
        main()
