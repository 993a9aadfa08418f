"""A process that runs one contestant: tasks come in as lines of JSON, timings go out.

``python -m benchmarks.worker CONTESTANT CORES``; contestants are modules of this folder. A process
of its own gives each the cores it may use and the packages it needs, and keeps what it compiled.
"""

import importlib
import json
import os
import sys
import time

from benchmarks.task import Task


def main():
    name, cores = sys.argv[1], int(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):  # Linux; elsewhere nothing keeps JAX to one core
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={cores}"
    run = importlib.import_module(f"benchmarks.{name}").run
    for line in sys.stdin:
        request = json.loads(line)
        task = Task.load(request["task"])
        # Other programs disturb the processor's time less than the clock on the wall, but on
        # several cores it says nothing.
        clock = time.process_time if cores == 1 else time.perf_counter
        begin = clock()
        summary = run(task, request["seeds"], request["iterations"], cores)
        seconds = clock() - begin
        print(json.dumps({"seconds": seconds, "summary": summary.tolist()}), flush=True)


if __name__ == "__main__":
    main()
