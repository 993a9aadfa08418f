"""Refuse configuration files that hold anything but data, before Snakemake evaluates them."""

import sys

from pgpd_hf.support import validation

for path in sys.argv[1:]:
    try:
        validation.read(path)
    except ValueError as error:
        sys.exit(f"config: {error}")
