"""Refuse configuration files that hold anything but data, before Snakemake evaluates them."""

import sys

from replication.files import validation

with validation.one_line("config", ValueError):
    for path in sys.argv[1:]:
        validation.read(path)
