"""What `make mutants` is told of mutants that do the same as the code."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_every_equivalent_mutant_is_one_of_the_code_with_a_reason():
    for entry in yaml.safe_load((ROOT / "tools/mutants/equivalent.yaml").read_text()):
        lines = (ROOT / entry["file"]).read_text(encoding="utf-8").splitlines()
        assert entry["before"] in [line.strip() for line in lines], entry
        assert entry["after"] != entry["before"]
        assert entry["reason"].endswith(".")
