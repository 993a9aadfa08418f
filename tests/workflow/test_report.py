"""The report: one HTML file, complete in itself, that a browser shows without a network."""

import base64
import json
import re
from pathlib import Path

import browser
import offline
import pytest

# What a page loads: not what it merely links to, nor what stands in a comment or a licence.
LOADED = re.compile(
    r"""(?:\bsrc\s*=\s*|<link[^>]*href\s*=\s*|@import\s*|url\()["']?(?:https?:)?//"""
)


@pytest.fixture(scope="module")
def report(finished):
    project, _ = finished
    path = project.results("report.html")
    command = project.workflow(
        "reported", "--cores", "2", "--report-after-run", "--report", str(path)
    )
    code, output = project.call(offline.cut_off(command))
    assert code == 0, output
    assert "WARNING/" not in output  # of a caption's markup
    return path


def embedded(report, name):
    """A variable of the report's script."""
    text = report.read_text(encoding="utf-8")
    start = re.search(rf'<script id="[\w-]+">\s*var {name} = ', text).end()
    return json.JSONDecoder().raw_decode(text, start)[0]


def test_results_are_sorted_into_folders_by_names_for_people(report):
    results = embedded(report, "results")
    labels = {
        folder: {results[path]["labels"]["result"] for paths in parts.values() for path in paths}
        for folder, parts in embedded(report, "categories").items()
    }
    assert set(labels) == {"Figure 1", "Provenance", "Theory", "Verdicts"}
    assert "NPGPD-HF: optimality gap" in labels["Figure 1"]
    assert {"Where the error comes from", "Rates in T (table)"} <= labels["Theory"]
    # Titles of analyses are the first lines of their files.
    assert {"Slopes in T, with floors removed or fitted"} <= labels["Theory"]
    assert "All readings (table)" in labels["Verdicts"]
    assert labels["Provenance"] == {"Versions, machine, commit and time", "Configuration"}
    assert not re.search(r"\w/\w|\.(svg|html|csv|json)", str(labels))


def test_captions_state_the_values_in_force(report):
    captions = {
        path.split("/", 2)[-1]: re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", result["caption"]))
        for path, result in embedded(report, "results").items()
    }
    assert not [path for path, caption in captions.items() if not caption]
    expected = "M = 16, 64, 256 evaluators per question. Mean over 3 seeds"
    assert expected in captions["figures/figure1.svg"]
    assert "M = 256, ∞" in captions["rates.csv"]
    assert "NPGPD-HF: T = 20, 40, 80." in captions["rates.csv"]
    assert "Study smoke" in re.sub(r"<[^>]*>", "", embedded(report, "workflow_desc"))


def test_nothing_is_loaded_from_elsewhere(report):
    pages = {
        path: base64.b64decode(result["data_uri"].partition("base64,")[2]).decode()
        for path, result in embedded(report, "results").items()
        if result["mime_type"] == "text/html"
    }
    assert len(pages) >= 8
    # Scripts of the report hold addresses that they never ask for: the browser's test covers them.
    pages["report"] = re.sub(
        r"<script\b.*?</script>", "", report.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    for path, page in pages.items():
        assert not LOADED.findall(page), path


@pytest.mark.skipif(browser.BROWSER is None, reason="needs Chromium or Chrome")
def test_browser_shows_every_result_without_a_network(report, tmp_path):
    probe = Path(__file__).with_name("probe.js").read_text(encoding="utf-8")
    found, events = browser.visit(report.as_uri(), probe, tmp_path / "profile")
    assert found["wrong"] == []
    assert set(found["seen"]) == set(embedded(report, "results"))
    assert set(browser.requests(events)) == {report.as_uri()}
    assert list(browser.errors(events)) == []


def test_what_has_not_been_made_is_left_out(fresh):
    planned = fresh.planned("reported")
    assert {"figure", "rates", "bounds", "provenance"} <= set(planned)
    assert not {"certificates", "slopes", "claims"} & set(planned)
