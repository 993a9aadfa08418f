"""Resolve pyproject.toml into requirements.lock, and write the same versions to environment.yml.

Versions already locked are kept as long as they fit: pass --upgrade or --upgrade-package=NAME to
move them. Needs uv (set UV to its path if it is not on PATH), which asks its configured index.
"""

import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
ENVIRONMENT = ROOT / "environment.yml"

ENVIRONMENT_HEAD = """\
# Written by `make lock` from requirements.lock (sha256 {digest}): do not edit.
# The packages come from pip at the versions of the lock, so that a conda environment and the
# environment of the Makefile hold the same bytes; conda brings the interpreter and make.
name: pgpd-hf
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python =3.11  # the version that the committed results were made with
  - pip
  - make
  - pip:
      - -e .  # everything that it depends on is pinned below
"""


def resolve(*options: str) -> None:
    """Write requirements.lock: one resolution for all supported platforms, with hashes."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    command = [
        *(os.environ.get("UV", "uv"), "pip", "compile", "pyproject.toml", "-"),
        *("--group", "test", "--group", "lint"),
        *("--universal", "--python-version", "3.11"),
        # One version for every Python, not the newest for each: results are to be comparable.
        *("--fork-strategy", "fewest"),
        *("--generate-hashes", "--no-emit-index-url", "--quiet"),
        *("--custom-compile-command", "make lock"),
        *("--output-file", LOCK.name, *options),
    ]
    # Standard input adds the build backend: the package is installed without build isolation.
    subprocess.run(command, cwd=ROOT, input="\n".join(build), text=True, check=True)


def render_environment(lock: str) -> str:
    """Return the conda environment that holds what `lock` holds."""
    lines = [line.removesuffix("\\").rstrip() for line in lock.splitlines()]
    requirements = [line for line in lines if line and not line.startswith((" ", "#"))]
    digest = hashlib.sha256(lock.encode()).hexdigest()
    items = [f'      - "{line}"\n' if ";" in line else f"      - {line}\n" for line in requirements]
    return ENVIRONMENT_HEAD.format(digest=digest) + "".join(items)


if __name__ == "__main__":
    try:
        resolve(*sys.argv[1:])
    except FileNotFoundError:
        sys.exit("error: uv is needed to resolve the lock: install it, or set UV to its path")
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    ENVIRONMENT.write_text(render_environment(LOCK.read_text()))
