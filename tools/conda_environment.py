"""Write environment.yml, a conda environment with the versions of requirements.lock."""

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
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


def render(lock):
    """Text of the conda environment that holds what the text of a lock holds."""
    pins = re.findall(r"^[a-z0-9].*?(?= *\\?$)", lock, re.MULTILINE)
    items = [f'      - "{pin}"\n' if ";" in pin else f"      - {pin}\n" for pin in pins]
    return HEAD.format(digest=hashlib.sha256(lock.encode()).hexdigest()) + "".join(items)


if __name__ == "__main__":
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    (ROOT / "environment.yml").write_text(render(lock), encoding="utf-8")
