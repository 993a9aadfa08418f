"""Write config/README.md from the descriptions in the schemas, the readings and the criteria."""

import inspect
from pathlib import Path

import yaml

from pgpd_hf.claims import CRITERIA

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "workflow/schemas"
READINGS = ROOT / "config/readings"
CONFIG = ROOT / "config/config.yaml"
PAGE = ROOT / "config/README.md"
END = "...\n"  # of a YAML document that is a single value
TEMPLATE = """\
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
make figures CONFIG=config/mine.yaml
```

That refuses a file that holds anything but data, and then does what `snakemake --configfile
config/mine.yaml` does; Snakemake by itself would evaluate Python in a file that has the key
`__use_yte__`. Results then go to `results/mine`, figures to `results/mine/figures`. Single numbers
can also be given on the command line, `snakemake --config study=mine seeds=40`. A configuration
that cannot be run is refused before the first job, in one line that names the key, its value and
what is allowed.

This page is made from the schemas in `workflow/schemas` by `make docs`.

| key | default | meaning |
|---|---|---|
{keys}

## Readings

What the paper leaves open, each choice as a file in `config/readings`; `claims.readings` lists
those that `snakemake claims` runs. A reading is added as one file. Its runs are made only where
they differ from those of the study or of another reading.

| reading | what it changes |
|---|---|
{readings}

A reading has these keys:

| key | meaning |
|---|---|
{reading_keys}

## Statements and their criteria

`claims.yaml` holds the paper's statements:

| key | meaning |
|---|---|
{claims_keys}

A statement is *reproduced* if all parts of its criterion are shown to hold, *contradicted* if one
is shown not to, and else *inconclusive*. The tests are one-sided t tests over seeds (over
instances, where there are several), two of them for "differ by less than"; p values are adjusted
after Holm over the statements of a table, separately for both verdicts. Values are in units of the
largest possible value. The criteria:

| test | demands | keys |
|---|---|---|
{criteria}
"""


def resolve(entry, definitions):
    """An entry with what it refers to; its own keys win."""
    return {**definitions.get(entry.get("$ref", "").split("/")[-1], {}), **entry}


def rows(schema, defaults, definitions, prefix=""):
    """Cells about all keys of an object, in order, nested ones after their parent."""
    for name, entry in schema.get("properties", {}).items():
        entry = resolve(entry, definitions)
        others = entry.get("additionalProperties")
        shown = ""
        if name in defaults and "properties" not in entry and not isinstance(others, dict):
            text = yaml.safe_dump(defaults[name], default_flow_style=True, width=10**6)
            shown = f"`{text.removesuffix(END).strip()}`"
        yield f"`{prefix}{name}`", shown, entry["description"]
        yield from rows(entry, defaults.get(name) or {}, definitions, f"{prefix}{name}.")
        if isinstance(others, dict):
            inner = resolve(others, definitions)
            yield from rows(inner, {}, definitions, f"{prefix}{name}.NAME.")


def load(path):
    """Content of a YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def table(cells):
    """Rows of a Markdown table."""
    escaped = ([cell.strip().replace("|", "\\|") for cell in row] for row in cells)
    return "\n".join(f"| {' | '.join(row)} |" for row in escaped)


def keys(name):
    """Table rows of a schema without defaults."""
    found = rows(load(SCHEMAS / f"{name}.schema.yaml"), {}, {})
    return table((key, meaning) for key, _, meaning in found)


def page():
    """The page's text."""
    schema = load(SCHEMAS / "config.schema.yaml")
    readings = sorted(READINGS.glob("*.yaml"), key=lambda path: path.stem)
    return TEMPLATE.format(
        keys=table(rows(schema, load(CONFIG), schema["$defs"])),
        readings=table((f"`{path.stem}`", load(path)["about"]) for path in readings),
        reading_keys=keys("reading"),
        claims_keys=keys("claims"),
        criteria=table(
            (
                f"`{name}`",
                function.__doc__.split("\n")[0],
                ", ".join(f"`{key}`" for key in inspect.signature(function).parameters),
            )
            for name, function in CRITERIA.items()
        ),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
