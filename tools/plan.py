"""What jobs would ask for: adds up a dry run of Snakemake, whose options it takes."""

import re
import subprocess
import sys

COLUMNS = ["rule", "jobs", "minutes each", "MB each", "minutes", "MB"]

command = [sys.executable, "-m", "snakemake", *sys.argv[1:], "--dry-run"]
answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if answer.returncode:
    sys.exit(answer.stdout)

# For each rule the requests of its jobs, in minutes and megabytes, or 0 where a job asks for none.
requests = {}
for line in answer.stdout.splitlines():
    if match := re.fullmatch(r"(?:local)?(?:rule|checkpoint) (\w+):", line):
        rule = match[1]
        requests.setdefault(rule, []).append((0, 0))
    elif line.startswith("    resources: "):
        asked = dict(re.findall(r"(runtime|mem_mb)=(\d+)", line))
        requests[rule][-1] = int(asked.get("runtime", 0)), int(asked.get("mem_mb", 0))


def row(name, jobs):
    """Number of jobs, the largest request of one, and the sum of all."""
    minutes, memory = zip(*jobs, strict=True) if jobs else ((0,), (0,))
    return [name, len(jobs), max(minutes), max(memory), sum(minutes), sum(memory)]


if not requests:
    print("Nothing to do.")
    sys.exit()
rows = [row(rule, jobs) for rule, jobs in requests.items()]
rows.append(row("total", [job for jobs in requests.values() for job in jobs]))
print("What a cluster is told: limits, much above what jobs need.")
for name, *numbers in [COLUMNS, *rows]:
    print(f"{name:24}" + "".join(f"{number or '-':>14}" for number in numbers))
