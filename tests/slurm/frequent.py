"""Snakemake whose Slurm executor asks about its jobs every two seconds.

The plugin waits 10 s longer after each question in which no job has ended, which has no option.
Jobs of a cluster last minutes; those of the tests do not.
"""

import sys

from snakemake.cli import main
from snakemake_executor_plugin_slurm import Executor

Executor.next_seconds_between_status_checks = property(lambda self: 2, lambda self, seconds: None)

if __name__ == "__main__":
    sys.exit(main())
