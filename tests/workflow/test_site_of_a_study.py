"""The site of a study that is not the default one, from its results alone."""

import shutil

import pytest
import visiting
from projects import ROOT


@pytest.mark.long
@visiting.needs_browser
def test_every_page_opens_and_nothing_of_the_default_study_is_in_it(finished, tmp_path):
    project, _ = finished
    shutil.copytree(ROOT / "site", tmp_path / "site")
    results = tmp_path / "results/smoke"
    results.mkdir(parents=True)
    for path in [project.folder / "config", project.folder / "workflow"]:
        (tmp_path / path.name).symlink_to(path)
    for path in project.results().iterdir():
        (results / path.name).symlink_to(path)
    done = visiting.build(tmp_path, "config/smoke.yaml", documentation=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    site = results / "site"
    made = {path.name for path in project.results("notebooks").glob("*.html")}
    assert len(made) > 8
    assert {path.name for path in (site / "notebooks").iterdir()} == made
    assert not (site / "environments.html").exists()
    with visiting.chromium() as browser:
        visitor = visiting.Visitor(browser, site)
        for path in sorted(site.rglob("*.html")):
            page = visitor.open(path.relative_to(site).as_posix())
            assert page.locator("h1").count() >= 1, path
            pictures = page.locator("img").evaluate_all("all => all.map(one => one.naturalWidth)")
            assert all(width > 100 for width in pictures), path
        assert visitor.wrong == []
        for scheme in ("light", "dark"):
            phone = {"viewport": {"width": 390, "height": 800}, "color_scheme": scheme}
            visitor = visiting.Visitor(browser, site, **phone)
            for name in sorted(made):
                page = visitor.open(f"notebooks/{name}")
                wrong, passed = visiting.violations(page, scheme)
                assert wrong == [], name
                assert "color-contrast" in passed, name
                background = page.evaluate("getComputedStyle(document.body).backgroundColor")
                assert (background == "rgb(255, 255, 255)") == (scheme == "light"), name
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
                assert all(page.locator("img").evaluate_all("all => all.map(one => one.alt)"))
            page.get_by_role("link", name="The site").click()
            assert page.url == f"{site.as_uri()}/index.html"
        page = visitor.open("index.html")
        assert "Study smoke" in page.locator("main").inner_text()
        commands = page.locator("ul.missing li").all_inner_texts()
        assert all("config/smoke.yaml" in command for command in commands)
    text = (ROOT / "config/smoke.yaml").read_text()
    (tmp_path / "other.yaml").write_text(text.replace("[16, 64, 256]", "[16, 64]"))
    done = visiting.build(tmp_path, "other.yaml", documentation=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        "note: results/smoke: made with other values of evaluators than other.yaml has; "
        "`make figures CONFIG=other.yaml` makes them again\n"
    )
