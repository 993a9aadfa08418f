"""Write config/README.md from the descriptions in the configuration's schema."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
CONFIG = ROOT / "config/config.yaml"
PAGE = ROOT / "config/README.md"
INTRODUCTION = """\
# Configuration

`config.yaml` holds the paper's experiment. To change something, write a file with only what
differs, and its own name, and pass it on:

```yaml
# config/mine.yaml
study: mine
evaluators: [8, 32]
algorithms:
  npgpd_hf:
    iterations: 2000
```

```sh
snakemake --configfile config/mine.yaml
```

Results then go to `results/mine`, figures to `results/mine/figures`. Single numbers can also be
given on the command line, `snakemake --config study=mine seeds=40`. A configuration that cannot be
run is refused before the first job, in one line that names the key, its value and what is allowed.

This page is made from `workflow/schemas/config.schema.yaml` by `make docs`.

| key | default | meaning |
|---|---|---|
"""


def rows(schema, defaults, prefix=""):
    """Table rows of all keys of an object, in order, nested ones after their parent."""
    for name, entry in schema.get("properties", {}).items():
        key = f"{prefix}{name}"
        default = defaults.get(name) if isinstance(defaults, dict) else None
        nested = "properties" in entry or isinstance(entry.get("additionalProperties"), dict)
        missing = not isinstance(defaults, dict) or name not in defaults
        shown = "" if nested or missing else f"`{yaml.safe_dump(default, default_flow_style=True)}`"
        shown = shown.replace("\n...\n", "").replace("\n", "")
        yield f"| `{key}` | {shown} | {entry['description'].strip()} |"
        yield from rows(entry, default, f"{key}.")
        if isinstance(entry.get("additionalProperties"), dict):
            yield from rows(entry["additionalProperties"], None, f"{key}.NAME.")


def page():
    """The page's text."""
    schema = yaml.safe_load(SCHEMA.read_text())
    config = yaml.safe_load(CONFIG.read_text())
    return INTRODUCTION + "\n".join(rows(schema, config)) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
