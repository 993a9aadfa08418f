"""Tables of earlier editions, which no command makes again, are those of their commits."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "reference/editions"
MADE = {  # where each lies in the commit that reference/README.md names
    "first_and_second.csv": "editions.csv",
    "one_round.csv": "typical.csv",
    "one_round_confirmation.csv": "typical_confirmation.csv",
    "stability_fresh.csv": "stability_fresh.csv",
}


def test_every_table_has_the_digest_on_record():
    lines = (FOLDER / "SHA256SUMS").read_text().splitlines()
    told = {name: digest for digest, name in (line.split("  ") for line in lines)}
    made = {path.name: hashlib.sha256(path.read_bytes()) for path in FOLDER.glob("*.csv")}
    assert told == {name: digest.hexdigest() for name, digest in made.items()}
    assert told.keys() == MADE.keys()


@pytest.mark.parametrize("name", MADE)
def test_table_is_that_of_its_commit(name):
    text = (ROOT / "reference/README.md").read_text()
    (commit,) = re.findall(rf"\| `editions/{re.escape(name)}` \| .* \| (\w+) \|", text)
    command = ["git", "-C", ROOT, "show", f"{commit}:reference/{MADE[name]}"]
    shown = subprocess.run(command, capture_output=True)
    if shown.returncode:
        pytest.skip("the history of the repository is not here")
    assert shown.stdout == (FOLDER / name).read_bytes()
