"""Write config/README.md from the descriptions in the schemas, the readings and the criteria."""

import inspect
from pathlib import Path

import yaml

from pgpd_hf.claims import CRITERIA
from pgpd_hf.claims.evidence import COLUMNS, RATE_COLUMNS, STATISTICS

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

Studies of environments that people know are in `environments/`: `make figures
CONFIG=config/environments/frozen-lake.yaml` runs one, and `make environments` all of them, with
pictures of the learned policies and a table of verdicts, `results/environments/environments.csv`.

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
is shown not to, and else *inconclusive*: docs/claims.md. The criteria:

| test | demands | keys |
|---|---|---|
{criteria}

What is read off a run is a `column` of its curve, averaged over a window, its `statistic`:

| column | is |
|---|---|
{columns}

| statistic | mean of the curve over |
|---|---|
{statistics}

`steps` are those of the `study` or of the `theorem`. The rates (`column`: {rate_columns}) are
slopes of averages over the first T iterates in `rates.csv` and `slopes.csv`; `priced_gap` is gap +
λ* times violation. `curve`, `quantity`, `schedule` and `outcome` name rows of `effects.csv`,
`effects_means.csv` and `schedules.csv`, which only `make claims` looks at.
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


def window(low, high):
    """A window of a run in words."""
    return f"{low:.0%} to {high:.0%} of T" if high else "the policy before the first iteration"


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
        columns=table((f"`{name}`", meaning) for name, meaning in COLUMNS.items()),
        statistics=table((f"`{name}`", window(*ends)) for name, ends in STATISTICS.items()),
        rate_columns=", ".join(f"`{name}`" for name in RATE_COLUMNS),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
