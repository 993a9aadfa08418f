"""Run `snakemake --lint` with all checks but one.

The whole workflow runs in one locked environment, which holds this package and Snakemake itself, so
no rule names an environment of its own.
"""

from snakemake.cli import main
from snakemake.linting.rules import RuleLinter

del RuleLinter.lint_missing_software_definition

if __name__ == "__main__":
    main(["--lint"])
