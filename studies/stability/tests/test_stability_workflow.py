"""The study's workflow: what it plans, all of it in a small size, and refusals in one line."""

import pytest

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
LONG = ["printed-slow", "quadratic-slow", "ten-rounds"]
LAKE = {"gymnasium": "FrozenLake-v1", "cost": "holes", "at_most": 0.05}
SHORT = {"iterations": 500, "seeds": 2}
TINY = {"name": "tiny", "horizon": 45}
SMALL = {
    "evaluators": 8,
    "settings": {
        "printed-slow": {"dual_step": 0.0003},
        "quadratic-slow": {"dual_step": 0.0003, "normalize": "quadratic"},
        "ten-rounds": {"rounds": 10},
    },
    "unsafe": {"violation": 0.02, "share": 0.25},
    "parts": {
        "frozen": {"settings": LONG[:1], "instances": [1], "multipliers": [2], **SHORT},
        "long": {"settings": LONG, "instances": [1, 42], **SHORT},
        "fresh": {"settings": LONG[1:2], "instances": [3, 1], **SHORT},
    },
}


def test_the_study_plans_each_setting_once_and_nothing_of_the_figure(jobs):
    others = dict.fromkeys(("stability_page", "stability_tables"), 1)
    assert jobs() == others | {"stability_runs": 66, "total": 68}


def test_a_small_study_has_its_tables_its_page_and_its_picture(snakemake, tmp_path):
    code, output = snakemake(config=TINY, declared=SMALL)
    assert code == 0, output
    results = tmp_path / "results/tiny/stability"
    tables = {path.stem: read_table(path) for path in results.glob("*.csv")}
    assert [*tables["frozen"]["multiplier"]] == [2]
    assert len(tables["ends"]) == 2 * 3 * 2
    assert [*tables["fresh"]["instance"]] == [1, 1, 3, 3]
    assert tables["long"].groupby("setting")["answers"].max().nunique() == 1
    assert {path.suffix for path in results.glob("stability.*")} > {".png", ".html", ".ipynb"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"algorithms": {"zpgpd_hf": None}, "rates": None}, "algorithms: zpgpd_hf expected"),
        ({"algorithms": {"zpgpd_hf": {"dual_step": "theorem"}}}, "algorithms: zpgpd_hf expected"),
        ({"environment": LAKE}, "environment: random instances expected"),
        ({"declared": SMALL | {"settings": {"own": {}}}}, "settings: some of own expected, got "),
        (
            {"declared": SMALL | {"setting": {}}},
            "declared.yaml: configuration: unknown key 'setting'",
        ),
    ],
)
def test_what_the_study_cannot_be_about_is_refused_in_one_line(snakemake, changes, told):
    declared = changes.pop("declared", SMALL)
    code, output = snakemake("--dry-run", config=TINY | changes, declared=declared)
    assert code != 0
    assert any(told in line for line in output.splitlines())
