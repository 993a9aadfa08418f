"""What jobs would ask for: adds up a dry run of Snakemake, whose options it takes."""

import re
import subprocess
import sys

import pandas as pd

COLUMNS = {
    "jobs": ("runtime", "size"),
    "minutes each": ("runtime", "max"),
    "MB each": ("mem_mb", "max"),
    "minutes": ("runtime", "sum"),
    "MB": ("mem_mb", "sum"),
}

command = [sys.executable, "-m", "snakemake", *sys.argv[1:], "--dry-run"]
answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if answer.returncode:
    sys.exit(answer.stdout)
jobs = []
for line in answer.stdout.splitlines():
    if match := re.fullmatch(r"(?:local)?(?:rule|checkpoint) (\w+):", line):
        jobs.append({"rule": match[1], "runtime": 0, "mem_mb": 0})
    elif line.startswith("    resources: "):
        asked = re.findall(r"(runtime|mem_mb)=(\d+)", line)
        jobs[-1] |= {name: int(number) for name, number in asked}
if not jobs:
    print("Nothing to do: all is there. CONFIG= or STUDY= plans something else.")
    sys.exit()
print("Limits that a cluster is told, far above what jobs need (0: the profile's, or run here).")
table = pd.DataFrame(jobs)
table = pd.concat([table, table.assign(rule="total")])
why = re.search(r"\n +(\w+ have changed since last execution:)\n +(.+)", answer.stdout)
if why:
    print(f"{why[1]} {why[2]}")
print(table.groupby("rule", sort=False).agg(**COLUMNS).reset_index().to_string(index=False))
