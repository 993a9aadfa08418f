"""The site in a browser: complete, the numbers of the tables, usable in every way promised."""

import json
import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from building import write_results
from projects import ROOT
from visiting import build, violations

from pgpd_hf.algorithms import get_algorithm
from replication.files import storage, validation
from replication.statements import controls, report

STEADY = "explorer.html#view=default&claim=zpgpd-gap-steady-state"
PAGES = ("index.html", STEADY, "readings/default.html", "readings/softmax.html")
PAGES += ("readings/hard.html",)
PAGES += ("comparison.html", "environments.html", "documents/results.html", "documents/audit.html")
PAGES += ("api/pgpd_hf.html",)
LESSON = "notebooks/lesson.html"  # with the navigation of notebooks
SHOTS = {
    "start": "index.html",
    "explorer": "explorer.html",
    "reading": "explorer.html#view=running-average",
    "matrix": STEADY,
}
CELLS = "all => all.map(row => [...row.cells].map(cell => cell.textContent.trim()))"


@pytest.fixture(scope="module")
def verdicts(clone):
    """All verdicts, with those on fresh data, on the hard case and in other environments."""
    fresh = storage.read_table(clone / "reference/confirmation.csv")
    fresh["reading"] = fresh["reading"].replace("default", "fresh seeds")
    hard = storage.read_table(clone / "reference/hard/verdicts.csv").query("reading == 'default'")
    hard = hard.assign(reading="hard case")
    others = storage.read_table(clone / "reference/environments.csv")
    others = others.rename(columns={"study": "reading"})
    return pd.concat([storage.read_table(clone / "reference/verdicts.csv"), fresh, hard, others])


@pytest.fixture(scope="module")
def curves(clone):
    return storage.read_table(clone / "reference/curves.csv")


class Links(HTMLParser):
    """What a page refers to, and the places in it that can be referred to."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.places = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.targets |= {given[key] for key in ("href", "src") if given.get(key)}
        self.places |= {given["id"]} if "id" in given else set()


def spoken(value):
    """A number as pages write it."""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    text, power = re.match(r"(.*?)(?:e-0(\d))?$", text).groups()
    return text.replace("-", "−") + (f"·10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[int(power)]}" if power else "")


def labelled(text):
    """A criterion with algorithms as people call them."""
    return re.sub(r"\b(n|z)pgpd_hf\b", lambda name: get_algorithm(name[0]).label, text)


def test_links_lead_somewhere_within_the_site(site):
    pages = {path.resolve(): Links(path) for path in site.rglob("*.html")}
    assert len(pages) > 60
    broken = []
    for path, links in pages.items():
        for link in links.targets:
            if re.match(r"https?:|data:|mailto:", link):
                continue
            file, _, place = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            if target.is_dir() or not target.exists():
                broken.append((path.name, link))
            elif place and target == path and place not in links.places:
                broken.append((path.name, link))
            elif place and target.suffix == ".html" and target.name != "explorer.html":
                if place not in pages[target].places:
                    broken.append((path.name, link))
    assert broken == []


def test_every_page_opens_without_a_network_and_shows_its_pictures(site, visit):
    visitor = visit()
    own = [path for path in site.rglob("*.html") if "api" not in path.parts]
    for path in [*own, site / "api/pgpd_hf.html", site / "api/pgpd_hf/core/optima.html"]:
        page = visitor.open(path.relative_to(site).as_posix())
        assert page.locator("h1").count() == 1, path
        pictures = page.locator("img:not([src^=data])")
        seen = pictures.evaluate_all("all => all.map(one => [one.naturalWidth, one.alt.length])")
        assert all(width > 100 and words > 50 for width, words in seen), path


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible(visit, scheme):
    visitor = visit(reduced_motion="reduce", color_scheme=scheme)
    most = {"exclude": [["#matrix tbody tr:nth-child(n + 12)"]]}  # of a thousand cells
    for name in (*PAGES, LESSON):
        wrong, passed = violations(visitor.open(name), scheme, most)
        assert wrong == [], name
        assert "color-contrast" in passed, name


def test_every_page_leads_to_every_other(visit):
    visitor = visit()
    for name in PAGES[:-1]:  # the last one is pdoc's, which leads to the first one
        names = visitor.open(name).locator("header nav li").all_inner_texts()
        assert names == [
            "Start",
            "Explorer",
            "Comparison",
            "Environments",
            "Documents",
            "Package",
        ], name


@pytest.mark.parametrize("width", [320, 600, 1300])
def test_pages_are_no_wider_than_the_window(visit, width):
    visitor = visit(viewport={"width": width, "height": 800})
    for name in (*PAGES, LESSON):
        page = visitor.open(name)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_names_of_the_package_have_a_line_each(visit):
    names = visit().open("api/pgpd_hf.html").locator(".attr.variable")
    heights = names.evaluate_all("all => all.map(it => it.getBoundingClientRect().height)")
    assert len(heights) > 50
    assert sorted(heights)[len(heights) // 2] < 50


def test_wide_tables_keep_their_first_column_and_show_where_more_is_hidden(visit):
    page = visit(viewport={"width": 1100, "height": 800}).open("comparison.html")
    page.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
    wide = page.evaluate(
        """[...document.querySelectorAll(".scroll")].flatMap(box => {
            if (box.scrollWidth < box.clientWidth + 100) return [];
            box.scrollLeft = 100;
            const first = box.querySelector("tbody tr").cells[0].getBoundingClientRect();
            const look = getComputedStyle(box);
            return [[first.left - box.getBoundingClientRect().left, look.backgroundAttachment]];
        })"""
    )
    assert wide
    assert all(it == [0, "local, local, scroll, scroll"] for it in wide)


@pytest.mark.parametrize("width", [390, 1300])
def test_text_of_pictures_is_legible_and_of_one_size(visit, width):
    visitor = visit(viewport={"width": width, "height": 800})
    for name in ("index.html", "environments.html", "comparison.html", "documents/results.html"):
        sizes = visitor.open(name).evaluate(
            """[...document.querySelectorAll("main img")].map(it => {
                const points = it.naturalWidth / (it.src.endsWith("png") ? 300 / 72 : 96 / 72);
                return 8 * it.getBoundingClientRect().width / points;
            })"""
        )
        assert min(sizes) > 9, name
        assert max(sizes) < 20, name


def test_first_page_says_which_rounds_its_figure_has(visit):
    caption = " ".join(visit().open("index.html").locator("figcaption").inner_text().split())
    assert ", with M people per question and N = 2 rounds of questions per iteration, a" in caption


def test_first_page_answers_three_questions_before_anything_else(visit):
    main = visit().open("index.html").locator("main")
    questions = ["What is this?", "Does it hold?", "What should I use?"]
    assert main.locator("h2").all_inner_texts()[:3] == questions
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (advice,) = re.findall(r"\| Which method should I use\? \| (.*?) \|", readme)
    text = " ".join(main.locator(".answers").inner_text().split())
    assert advice in text
    before = main.evaluate("it => it.innerHTML.split('class=\"answers\"')[0]")
    assert "<table" not in before
    assert "<img" not in before


def test_search_finds_documents_the_package_and_lessons_without_a_server(visit):
    page = visit(reduced_motion="reduce").open("index.html")
    box = page.get_by_role("searchbox", name="Search")
    for words, address in {
        "not blind": "documents/claims.html#not-blind",
        "predict_stability": "api/pgpd_hf.html#predict_stability",
        "multiplier price": f"{LESSON}#",
        "slurm partition": "documents/cluster.html#",
    }.items():
        box.fill(words)
        first = page.locator("#search li a").first
        first.wait_for()
        found = page.locator("#search li a").evaluate_all("all => all.map(it => it.href)")
        assert any(address in it for it in found[:5]), (words, found)
        assert len(found) <= 12
    assert violations(page, context="#search")[0] == []
    box.press("Enter")
    page.wait_for_url("**/documents/cluster.html#*")
    box = page.get_by_role("searchbox", name="Search")
    box.fill("xyzzy")
    page.get_by_text("Nothing found").wait_for()
    box.press("Escape")
    assert box.input_value() == ""
    assert page.locator("#search li").count() == 0


def test_index_of_the_search_leads_to_places_that_exist(site):
    text = (site / "data/search.js").read_text(encoding="utf-8")
    rows = json.loads(text.removeprefix("const SECTIONS = ").removesuffix(";\n"))
    assert len(rows) > 300
    names = {address.partition("#")[0] for address, *_ in rows}
    places = {name: Links(site / name).places for name in names}
    for address, title, _, words in rows:
        name, _, place = address.partition("#")
        assert not place or place in places[name], address
        assert title
        assert words


def test_first_page_has_the_verdicts_of_the_table(visit, verdicts):
    rows = report.of_experiment(verdicts[verdicts["reading"] == "default"])
    page = visit().open("index.html")
    told = f"{report.in_short(rows)}, judged on {rows['units'].max():.0f} seeds"
    main = page.locator("main").inner_text()
    assert told in main
    assert controls.counted(rows, pd.read_csv(ROOT / "reference/controls.csv")) in main
    assert rows["level"].eq(0.01).all()
    assert "In brackets 98 % intervals." in main
    shown = page.locator("ul.verdicts > li")
    assert shown.count() == len(rows) == 14
    for i, (_, row) in enumerate(rows.iterrows()):
        text = shown.nth(i).inner_text()
        assert text.startswith(row["verdict"])
        assert row["statement"] in text
        low, high = spoken(row["low"]), spoken(row["high"])
        assert f"{labelled(row['part'])}: {spoken(row['estimate'])} [{low}, {high}]" in text


def test_matrix_has_the_verdicts_of_the_table(visit, verdicts):
    page = visit().open("explorer.html")
    cells = page.locator("#matrix a.cell").evaluate_all(
        "all => all.map(one => [one.getAttribute('aria-label'), one.className, one.textContent])"
    )
    shown = {name: (kind.split()[1], text.replace("−", "-")) for name, kind, text in cells}
    assert len(shown) == len(verdicts)
    for _, row in verdicts.iterrows():
        sign = report.sign(row)
        word = "no run decides" if sign == "." else row["verdict"]
        found = shown[f"{row['statement']}, {row['reading']}: {word}"]
        assert found == (("no", "·") if sign == "." else (row["verdict"], sign))


def test_curves_are_those_of_the_table(site, clone, curves):
    text = (site / "data/default.js").read_text(encoding="utf-8")
    _, content = json.loads(text.removeprefix("receive(...").removesuffix(");\n"))
    rows = curves.set_index(["algorithm", "evaluators", "iteration"])
    count = 0
    for algorithm, by_people in content["curves"].items():
        for people, columns in by_people.items():
            for i, iteration in enumerate(columns["iteration"]):
                row = rows.loc[algorithm, int(people), iteration]
                for name in set(columns) - {"iteration"}:
                    assert columns[name][i] == float(f"{row[name]:.6g}")
                count += 1
    assert count == len(curves)
    taken = storage.read_table(site / "data/default.csv")
    assert set(taken) == set(curves)
    assert taken.equals(curves[list(taken)])


def test_readings_look_at_runs_in_their_own_way(site, clone):
    traces = storage.read_table(clone / "reference/traces.csv")
    optimum = storage.read_json(clone / "results/paper/optimum.json")
    unconstrained = optimum["unconstrained"]["reward_value"]
    keys = ["algorithm", "evaluators", "iteration"]
    for name in ("running-average", "unconstrained-optimum"):
        own = storage.read_table(site / f"data/{name}.csv")
        both = own.merge(traces, on=keys, suffixes=("", "_run"))
        assert len(both) == len(traces)
        if name == "running-average":
            for metric in ("optimality_gap", "constraint_violation"):
                assert both[metric].equals(both[f"mean_{metric}_run"].rename(metric))
        else:
            gaps = (unconstrained - both["reward_value"]).to_numpy()
            assert both["optimality_gap"].to_numpy() == pytest.approx(gaps, abs=1e-12)
            assert both["constraint_violation"].equals(both["constraint_violation_run"])


def test_curves_of_a_reading_are_of_the_runs_that_were_judged(sources, clone, tmp_path):
    """Runs of an earlier plan stay beside them."""
    for part in ("config", "reference", "workflow"):
        shutil.copytree(clone / part, tmp_path / part)
    write_results(tmp_path)
    results = tmp_path / "results/paper"

    def curves():
        views = {view.slug: view for view in sources.Sources(tmp_path, "").views()}
        return views["running-average"].curves

    runs = sorted(results.glob("full/runs/*/*/*.parquet"))
    whole = curves()
    earlier = storage.read_table(runs[0]).assign(seed=1)
    storage.write(runs[0].with_name("seeds0000-0001.parquet"), earlier)
    assert not curves().equals(whole)
    record = results / "readings/running-average/.claims.csv.sha256"
    record.parent.mkdir(parents=True)
    names = [f"# 0  {path.relative_to(tmp_path)}" for path in runs]
    record.write_text("\n".join(["0  claims.csv", *names, ""]))
    assert curves().equals(whole)


def test_results_of_another_experiment_are_named(sources, clone, tmp_path, capsys):
    for part in ("config", "reference", "workflow"):
        shutil.copytree(clone / part, tmp_path / part)
    write_results(tmp_path)
    sources.Sources(tmp_path, "")
    assert capsys.readouterr().err == ""
    path = tmp_path / "config/config.yaml"
    text = path.read_text()
    assert "\nseeds: 20" in text
    path.write_text(text.replace("\nseeds: 20", "\nseeds: 7"))
    sources.Sources(tmp_path, "")
    assert capsys.readouterr().err == (
        "note: results/paper: made with other values of seeds than config/config.yaml has; "
        "`make figures` makes them again\n"
    )


def test_hard_case_has_the_curves_of_its_table(site, clone):
    """Beside the default study, without results of its own."""
    recorded = storage.read_table(clone / "reference/hard/curves.csv")
    shown = storage.read_table(site / "data/hard.csv")
    assert shown.equals(recorded[list(shown)])
    assert set(shown) == set(recorded)
    page = (site / "readings/hard.html").read_text(encoding="utf-8")
    assert "Mean over 20 seeds" in page
    assert 'href="readings/hard.html"' in (site / "index.html").read_text(encoding="utf-8")


def test_comparison_has_the_numbers_and_verdicts_of_its_tables(visit, site, clone):
    config = validation.read(clone / "config/analyses/comparison.yaml")["methods"]
    labels = {name: it["label"] for name, it in config.items()}
    page = visit().open("comparison.html")
    assert page.locator("h1").inner_text() == "What an answer buys"
    table = storage.read_table(clone / "reference/comparison.csv").dropna(subset="priced_gap")
    shown = page.locator("[aria-label^='Over '] tbody tr").evaluate_all(CELLS)
    assert len(shown) == len(table) > 100
    for (_, row), cells in zip(table.iterrows(), shown, strict=True):
        assert cells[:3] == [labels[row["method"]], row["design"], f"{row['budget']:,}"]
        for name, cell in zip(("priced_gap", "gap", "violation"), cells[4:], strict=True):
            means = [row[f"{name}{end}"] for end in ("", "_low", "_high")]
            read = [float(x) for x in re.findall(r"-?\d\.\d{4}", cell.replace("−", "-"))]
            assert read == pytest.approx(means, abs=6e-5)
    judged = storage.read_table(clone / "reference/comparison_verdicts.csv")
    said = page.locator("ul.verdicts").inner_text()
    for _, row in judged.iterrows():
        ends = f"{spoken(row['difference'])} [{spoken(row['low'])}, {spoken(row['high'])}]"
        assert f"over {row['unit']}: {ends}" in said
    kinds = judged.groupby("claim")["verdict"].first()
    assert page.locator("ul.verdicts .verdict").all_inner_texts() == list(kinds)
    needed = storage.read_table(clone / "reference/comparison_answers.csv")
    shown = page.locator("table").first.locator("tbody tr").evaluate_all(CELLS)
    cells = {(*cells[:3], i): cell for cells in shown for i, cell in enumerate(cells[3:])}
    assert len(cells) == len(needed)
    for i, (_, row) in enumerate(needed.iterrows()):
        cell = cells[row["units"], labels[row["method"]], row["design"], i % 3]
        reached = row["answers"] == row["answers"]
        assert cell.startswith(f"{row['answers']:,.0f} (" if reached else "more than ")
    for name in ("comparison", "splits", "misspecification"):
        drawn = (clone / f"figures/{name}.svg").read_bytes()
        assert (site / f"pictures/{name}.svg").read_bytes() == drawn


def test_environments_have_the_verdicts_of_the_table(visit, clone):
    table = storage.read_table(clone / "reference/environments.csv")
    visitor = visit()
    page = visitor.open("environments.html")
    for study, rows in table.groupby("study"):
        (title, *shown) = page.locator(f"tbody#{study} tr").evaluate_all(CELLS)
        about = (clone / f"config/environments/{study}.yaml").read_text().splitlines()[0]
        assert title == [f"{study}. {about.removeprefix('# ')}"]
        assert about.endswith(".")  # a whole sentence
        for (_, row), cells in zip(rows.iterrows(), shown, strict=True):
            assert cells[:2] == [row["statement"], row["verdict"]]
            ends = [spoken(row[name]) for name in ("estimate", "low", "high")]
            assert cells[2] == ("" if "nan" in ends else "{} [{}, {}]".format(*ends))
    assert page.locator("img[src*=environments]").count() == 1
    steady = table[table["claim"] == "zpgpd-gap-steady-state"].set_index("study")["estimate"]
    notes = page.locator(".note", has_text="λ rises by").all_inner_texts()
    for name, note in zip(("cliff-walking", "frozen-lake"), notes, strict=True):
        assert f"On {name} " in note
        assert f"rises by {-steady[name]:,.0f} λ*" in " ".join(note.split())
    page.locator("#environments a").first.click()
    visitor.settle()
    assert page.locator("#view").input_value() == table["study"].iloc[0]
    assert "make environments" in page.locator("#missing").inner_text()
    assert page.locator("#detail h3").inner_text() == table["statement"].iloc[0]


def test_verdicts_stand_beside_those_on_fresh_data(visit, clone, verdicts):
    visitor, own = visit(), verdicts[verdicts["reading"] == "default"]
    fresh = storage.read_table(clone / "reference/confirmation.csv")
    told = report.on_fresh_data(own, fresh)
    lines = visitor.open("index.html").locator("ul.verdicts > li").all_inner_texts()
    expected = [f"On fresh data: {told[claim]}" for claim in report.of_experiment(own)["claim"]]
    assert [line.splitlines()[-1].strip() for line in lines] == expected
    for slug, words in {
        "default": "reproduced",
        "softmax": "not confirmed",
        "hard": "reproduced",
    }.items():
        page = visitor.open(f"readings/{slug}.html")
        assert f"On fresh data\n{words}" in page.locator("#npgpd-gap-plateaus").inner_text()


def test_first_page_says_how_the_study_was_made(visit, clone):
    record = storage.read_json(clone / "results/paper/provenance.json")
    said = visit().open("index.html").locator("main").inner_text()
    assert record["commit"] in said
    assert "2026-01-01 00:00:00 to 2026-01-01 00:01:30 UTC; jobs that take 1.5 minutes" in said
    assert all(f"{name} {version}" in said for name, version in record["versions"].items())


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1300, "light")])
def test_screenshots_show_what_they_are_of(visit, tmp_path, width, scheme):
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path)  # for people, or for this test alone
    visitor = visit(viewport={"width": width, "height": 900}, color_scheme=scheme)
    seen = {}
    for name, address in SHOTS.items():
        path = folder / f"{name}-{width}-{scheme}.png"
        visitor.open(address).screenshot(path=path, full_page=True)
        seen[name] = plt.imread(path)[..., :3]
        assert seen[name].shape[1] == width
        assert (seen[name].mean() > 0.5) == (scheme == "light")
        # Curves and verdicts are partly red or orange, but text is grey or blue.
        assert (seen[name][..., 0] - seen[name][..., 2] > 0.1).mean() > 0.002, name
    assert not np.array_equal(seen["explorer"], seen["reading"])


def test_values_are_read_off_at_any_place_by_keyboard(visit, curves):
    page = visit().open("explorer.html")
    slider = page.locator("#at")
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    rows = page.locator("#values tbody tr")
    last = curves[curves["iteration"] == curves.groupby("algorithm")["iteration"].transform("max")]
    for i, (_, row) in enumerate(last.iterrows()):
        text = rows.nth(i).inner_text().split("\t")
        assert text[1:3] == [str(row["evaluators"]), f"{row['iteration']:,}"]
        for cell, name in zip(text[3:], ("optimality_gap", "constraint_violation"), strict=True):
            values = [row[name], row[f"{name}_low"], row[f"{name}_high"]]
            read = [float(x.replace("−", "-")) for x in re.findall(r"−?\d\.\d{4}", cell)]
            assert read == pytest.approx(values, abs=6e-5)
    page.keyboard.press("Home")
    assert rows.nth(0).inner_text().split("\t")[2] == "0"


def test_pointer_shows_the_value_of_the_nearest_point(visit, curves):
    page = visit().open("explorer.html")
    chart = page.locator("#npgpd_hf-optimality_gap svg.marks")
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    keys, values = (tip.locator(f"td.{kind}").all_inner_texts() for kind in ("key", "value"))
    shown = dict(zip((key.rstrip(":") for key in keys), values, strict=True))
    iteration = int(shown["iteration"].replace(",", ""))
    place = (curves["algorithm"] == "npgpd_hf") & (curves["evaluators"] == int(shown["M"]))
    row = curves[place & (curves["iteration"] == iteration)].iloc[0]
    for name, column in (("now", ""), ("95 % from", "_low"), ("95 % to", "_high")):
        read = float(shown[name].replace("−", "-"))
        assert read == pytest.approx(row[f"optimality_gap{column}"], abs=6e-5)


def test_every_control_does_something(visit, verdicts):
    visitor = visit()
    page = visitor.open("explorer.html")
    marks = page.locator("#zpgpd_hf-optimality_gap svg.marks")
    before = marks.inner_html()
    assert marks.locator(".layer_3_marks line").count() == 1  # zero
    assert marks.locator(".mark-line path").count() == 6  # now, and on average
    page.get_by_role("radio", name="logarithmic").check()
    visitor.settle()
    assert marks.inner_html() != before
    page.get_by_role("radio", name="linear").check()
    visitor.settle()
    assert marks.inner_html() == before
    page.get_by_role("checkbox", name="M = 64").uncheck()
    visitor.settle()
    assert marks.inner_html() != before
    assert "64" not in page.locator("#values tbody tr td:nth-child(2)").all_inner_texts()
    page.get_by_role("checkbox", name="M = 64").check()
    visitor.settle()
    assert marks.inner_html() == before
    page.get_by_text("Columns of the CSV file").click()
    assert page.get_by_text("ends of the 95 % interval").is_visible()
    titles = page.locator("#view option").all_inner_texts()
    assert titles == list(verdicts["reading"].unique())
    for title in titles:
        page.locator("#view").select_option(label=title)
        visitor.settle()
        assert page.locator("#about").inner_text().startswith(f"{title}: ")
        assert page.locator("#panels").is_visible() != page.locator("#missing").is_visible()
    page.locator("#view").select_option("default")
    visitor.settle()
    page.locator("#verdicts button").nth(2).click()
    visitor.settle()
    heading = page.locator("#detail h3").inner_text()
    assert heading == page.locator("#verdicts button").nth(2).inner_text()
    page.locator("#detail summary").click()
    assert page.locator("#detail details li").first.is_visible()


def test_a_cell_shows_the_verdict_behind_it(visit, verdicts):
    visitor = visit()
    page = visitor.open("explorer.html")
    name = "ZPGPD-HF: gap improves with M, softmax: reproduced"
    page.get_by_role("link", name=name).click()
    visitor.settle()
    chosen = (verdicts["reading"] == "softmax") & (verdicts["claim"] == "zpgpd-gap-improves-with-m")
    row = verdicts[chosen].iloc[0]
    text = page.locator("#detail").inner_text()
    for part in (
        labelled(row["part"]),
        spoken(row["estimate"]),
        spoken(row["low"]),
        spoken(row["margin"]),
    ):
        assert part in text
    assert "view=softmax" in page.url
    assert page.locator("#view").input_value() == "softmax"
    assert "make claims" in page.locator("#missing").inner_text()


def test_matrix_is_walked_by_keyboard(visit):
    visitor = visit()
    page = visitor.open("explorer.html")
    page.locator("#matrix a.cell").first.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    visitor.settle()
    assert "view=one-round&claim=npgpd-gap-falls-fast" in page.url
    assert page.locator("#detail h3").inner_text() == "NPGPD-HF: gap falls fast"
    assert page.locator("#matrix a.cell[tabindex='0']").count() == 1


def holds_at(margin, words):
    """Whether words such as "margins up to 0.3" hold for a margin."""
    if words in ("any margin", "no margin"):
        return words == "any margin"
    side, _, end = words.rpartition(" ")
    number, _, power = end.partition("·10")
    end = float(f"{number}e{power.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789')) or 0}")
    return margin >= end if side == "margins from" else margin <= end


def test_margins_are_positive_and_agree_with_the_verdicts(site, verdicts):
    rows = verdicts[verdicts["direction"].notna() & verdicts["reading"].eq("default")]
    text = (site / "readings/default.html").read_text(encoding="utf-8")
    told = re.findall(r"; reproduced for (.+), contradicted for (.+)</dd>", text)
    assert len(told) == len(rows) > 10
    for (_, row), words in zip(rows.iterrows(), told, strict=True):
        holds = [holds_at(row["margin"], it) for it in words]
        assert holds == [row["verdict"] == it for it in ("reproduced", "contradicted")]


def test_picture_of_an_interval_has_its_parts_in_order(visit):
    page = visit().open(STEADY.replace("default", "hard"))
    at = page.locator("#detail svg.interval").evaluate(
        """svg => Object.fromEntries([...svg.children].map((one) => [
            one.classList[0],
            Object.fromEntries([...one.attributes].map(({ name, value }) => [name, +value])),
        ]))"""
    )
    low, high, estimate = at["range"]["x1"], at["range"]["x2"], at["estimate"]["cx"]
    left, right = at["demanded"]["x"], at["demanded"]["x"] + at["demanded"]["width"]
    assert 0 < low < estimate < high < left < at["zero"]["x1"] < right < 100
    # The estimate, −0.4507, lies 3.507 times as far below −0.1 as that lies below zero.
    assert (left - estimate) / (at["zero"]["x1"] - left) == pytest.approx(3.507, abs=0.02)


def test_without_javascript_there_are_figures_and_every_verdict(visit):
    page = visit(java_script_enabled=False).open("index.html")
    assert page.locator("figure img").is_visible()
    page.get_by_role("link", name="Explorer").first.click()
    assert page.locator("noscript figure img, figure img").first.is_visible()
    assert not page.locator("#controls").is_visible()
    assert not page.locator("#search").is_visible()
    page.get_by_role("link", name="NPGPD-HF: gap falls fast, N = 10: reproduced").click()
    assert page.url.endswith("readings/ten-rounds.html#npgpd-gap-falls-fast")
    assert "under “N = 10”" in page.locator("section#npgpd-gap-falls-fast").inner_text()


def test_what_is_missing_is_named_with_the_command_that_makes_it(visit):
    page = visit().open("index.html")
    lines = page.locator("ul.missing li").all_inner_texts()
    commands = [re.search(r": (\w+) ([\w-]+), then make site$", line).groups() for line in lines]
    assert {target for _, target in commands} == {
        *("figures", "claims", "theory", "infer", "policies", "environments", "stability"),
        *("compare", "compare-axes"),
    }
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{target}:" in makefile for tool, target in commands if tool == "make")


def test_before_there_are_results_one_line_says_what_to_run(site, tmp_path):
    for part in ("config", "site"):
        shutil.copytree(ROOT / part, tmp_path / part)
    done = build(tmp_path)
    assert done.returncode == 1
    assert done.stderr == "error: results/paper: no results yet; `make figures` makes them\n"


@pytest.fixture
def sources(monkeypatch):
    """The module, which is found in a folder of its own."""
    monkeypatch.syspath_prepend(str(ROOT / "site"))
    yield __import__("sources")
    del sys.modules["sources"]


def test_of_another_study_it_says_with_which_file(sources, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"`make figures CONFIG=config/smoke.yaml` makes"):
        sources.Sources(tmp_path, "config/smoke.yaml")


def test_files_that_lack_what_pages_show_are_refused_in_one_line(sources, site, clone, tmp_path):
    results = site.parent
    for name, needed in sources.NEEDED.items():
        folders = (results, clone / "reference", clone / "reference/hard")
        found = [path for folder in folders for path in folder.glob(f"{name}.*")]
        whole = sources.read(found[0])  # which has all of them
        path = tmp_path / found[0].name
        refusal = f"{path}: lacks {needed[-1]}; delete it and run again"
        if path.suffix == ".json":
            storage.write(path, {key: whole[key] for key in whole if key != needed[-1]})
        else:
            storage.write(path, whole.drop(columns=needed[-1]))
        with pytest.raises(ValueError, match=re.escape(refusal)):
            sources.read(path)
        if path.suffix != ".json" and name != "comparison_verdicts":
            storage.write(path, whole.iloc[:0])
            with pytest.raises(ValueError, match="has no rows; delete it and run again"):
                sources.read(path)


def test_a_table_without_a_column_stops_the_site_with_one_line(clone, site, tmp_path):
    for part in ("config", "site", "workflow"):
        shutil.copytree(clone / part, tmp_path / part)
    write_results(tmp_path, clone)
    path = tmp_path / "results/paper/claims.csv"
    storage.write(path, storage.read_table(path).drop(columns=["estimate", "low"]))
    done = build(tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"error: {path}: lacks estimate, low; delete it and run again\n"


def test_missing_parts_of_the_default_study_are_named(clone, tmp_path):
    """Those that are committed, of which a copy may have lost any."""
    for part in ("config", "site", "workflow"):
        shutil.copytree(clone / part, tmp_path / part)
    write_results(tmp_path, clone)
    done = build(tmp_path, documentation=False)
    assert done.returncode == 0, done.stderr
    first = (tmp_path / "results/paper/site/index.html").read_text(encoding="utf-8")
    for what, command in {
        "Other methods, compared per human answer": "compare",
        "The experiment in well-known environments": "environments",
        "Verdicts under other readings of the paper": "claims",
        "Verdicts on fresh data": "infer",
        "Statements on wrong data": "claims",
        "Article": "article",
    }.items():
        assert f"<li>{what}: <code>make {command}</code>" in first


def test_parts_that_are_missing_are_named_and_the_rest_is_shown(site, clone, tmp_path):
    for part in ("config", "site", "workflow"):
        shutil.copytree(clone / part, tmp_path / part)
    (tmp_path / "config/mine.yaml").write_text("study: mine\n")
    results = tmp_path / "results/mine"
    results.mkdir(parents=True)
    shutil.copy(clone / "results/paper/aggregate.parquet", results)
    done = build(tmp_path, "config/mine.yaml", documentation=False)
    assert done.returncode == 0, done.stderr
    first = (results / "site/index.html").read_text(encoding="utf-8")
    assert "There are no verdicts in this copy." in first
    for what in ("Verdicts", "optimum.json", "provenance.json"):
        assert f"<li>{what}: <code>make figures CONFIG=config/mine.yaml</code>" in first
    assert "snakemake policies --configfile config/mine.yaml" in first


def test_site_of_the_hard_case_has_what_is_on_record_of_it(clone, tmp_path):
    for part in ("config", "figures", "reference", "site", "workflow"):
        shutil.copytree(clone / part, tmp_path / part)
    write_results(tmp_path, study="hard")
    done = build(tmp_path, "config/hard.yaml", documentation=False)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results/hard/site"
    first = (folder / "index.html").read_text(encoding="utf-8")
    own = pd.read_csv(tmp_path / "reference/hard/verdicts.csv").query("reading == 'default'")
    assert report.in_short(report.of_experiment(own)) in first
    tested = pd.read_csv(tmp_path / "reference/hard/controls.csv")
    assert controls.counted(report.of_experiment(own), tested) in first
    told = report.on_fresh_data(own, pd.read_csv(tmp_path / "reference/hard/confirmation.csv"))
    page = (folder / "readings/default.html").read_text(encoding="utf-8")
    assert re.findall(r"<dt>On fresh data</dt><dd>(.*?)</dd>", page) == list(told.values())
    assert not (folder / "comparison.html").exists()
    assert "make compare CONFIG=config/hard.yaml" in first
    assert "make theory CONFIG=config/hard.yaml" in first
    assert "make hard</code>" in first  # the inference
    assert not (folder / "readings/hard.html").exists()
