"""Write the pages of a study for readers: results/STUDY/site/index.html.

They need neither a network nor a server. What has not been made yet is named on the first page,
with the command that makes it.
"""

import html
import importlib
import json
import math
import pkgutil
import re
import shutil
import sys
from pathlib import Path

import charts
import documents
import jinja2
import latex2mathml.converter
import lessons
import pandas as pd
import pdoc
import search_index
import vl_convert
from sources import ABOUT_HARD, HARD, ON_RECORD, PRICED, READINGS, Sources, rounded

import pgpd_hf
from pgpd_hf import statistics
from pgpd_hf.algorithms import ALGORITHMS, get_algorithm
from pgpd_hf.statistics import METRICS
from replication import analyses
from replication.figures import panels, style
from replication.files import validation
from replication.statements import controls, report

HERE = Path(__file__).parent
ROOT = HERE.parent
MINUS = "\N{MINUS SIGN}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOTEBOOKS = {  # in the order in which they are read: title, and what makes it
    "figure1": ("The figure, its step sizes and final numbers", "make figures"),
    "claims": ("Verdicts under every reading", "make claims"),
    "instances": ("The figure over random environments", "make claims"),
    "controls": ("Statements on wrong data", "make claims"),
    "stability": ("Whether ZPGPD-HF settles", "make stability"),
    "inference": ("Which N is the paper's", "make infer"),
    "comparison": ("Comparison with other methods, per answer", "make compare"),
    "misspecification": ("People who do not vote as assumed", "make compare"),
    "axes": ("What an answer buys elsewhere", "make compare-axes"),
    "splits": ("Allocation between M and N", "make compare"),
    "policies": ("What was learned, on maps", "snakemake policies"),
    "rates": ("Rates in T beside the bounds of both theorems", "make figures"),
    "bounds": ("Every lemma and theorem beside what it bounds", "make figures"),
    "certificates": ("Where the error of real runs comes from", "make theory"),
    "slopes": ("Rates, and the corollary at equal cost", "make theory"),
    "effects": ("What M, H, N and sizes do", "make theory"),
    "schedules": ("Fewer people first?", "make theory"),
    "corrected": ("The corrected theorems", "make theory"),
}
# From a notebook; the class is that of its text.
BACK = """<nav aria-label="Pages" class="jp-RenderedHTMLCommon">
<a href="../index.html">The site</a></nav>"""
COLUMNS = {  # of the curves that a reader can download
    "algorithm": "its name",
    "evaluators": "M, people per question; empty for infinitely many",
    "iteration": "number of updates so far",
    "optimality_gap": "V_r* − V_r of the current policy, mean over seeds",
    "constraint_violation": "b − V_g of the current policy, mean over seeds",
    "…_low, …_high": "ends of the 95 % interval of that mean, Student's t over seeds",
    "mean_…": "likewise for the running average over all policies so far, mean over seeds",
}

ACCESSIBLE = {  # what pdoc's pages lack: names of links, and headings without gaps
    r'(<a class="headerlink" href="#([^"]*)")>': r'\1 aria-label="Link to \2">',
    r"<(/?)h6\b": r"<\1h2",
}
FORMULA = re.compile(r"\\\((.+?)\\\)|\$\$(.+?)\$\$", re.DOTALL)  # as pdoc writes them


def as_mathml(found):
    """A formula of a docstring as browsers show it, without a script."""
    display = "inline" if found[1] else "block"
    return latex2mathml.converter.convert(html.unescape(found[1] or found[2]), display=display)


def number(value, digits=3):
    """A number for people."""
    if pd.isna(value):
        return ""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
    text, _, power = text.partition("e")
    if power:
        text += f"·10{str(int(power)).translate(SUPERSCRIPTS)}"
    return text.replace("-", MINUS)


def with_interval(row, name):
    """A mean and its interval for people."""
    return statistics.with_interval(row, name, ".4f").replace("-", MINUS)


def quoted(text):
    """Words of the paper, without the marks of LaTeX that they have."""
    return re.sub(r"\\\(|\\\)|\$", "", text).replace("=", " = ")


def in_words(ends):
    """A demanded interval."""
    above, below = ends
    if math.isfinite(above) and math.isfinite(below):
        return f"between {number(above)} and {number(below)}"
    return f"above {number(above)}" if math.isfinite(above) else f"below {number(below)}"


def margins(row):
    """For which margins a statement is reproduced, and for which contradicted."""
    words = []
    for verdict, larger in (("reproduced", "within"), ("contradicted", "beyond")):
        end, above = row[f"{verdict}_margin"], row["direction"] == larger
        if 0 < end < math.inf:
            words.append(f"{verdict} for margins {'from' if above else 'up to'} {number(end)}")
        else:  # a margin is positive
            words.append(f"{verdict} for {'any' if above == (end <= 0) else 'no'} margin")
    return ", ".join(words)


def picture_of(row, ends):
    """Places of an estimate, its interval and the demanded one, in percent of a picture's width."""
    shown = [row["estimate"], row["low"], row["high"], 0.0, *filter(math.isfinite, ends)]
    margin = 0.12 * (max(shown) - min(shown)) or 1.0
    first, last = min(shown) - margin, max(shown) + margin
    values = dict(zip(("above", "below"), ends, strict=True)) | {"zero": 0.0}
    values |= {name: row[name] for name in ("estimate", "low", "high")}
    return {
        name: round(100 * (min(max(value, first), last) - first) / (last - first), 2)
        for name, value in values.items()
    }


def describe(curves):
    """Curves in words, for readers who cannot see them."""
    keys = [(name, metric) for name in curves["algorithm"].unique() for metric in METRICS]
    return " ".join(panels.describe_panel(curves, *key) for key in keys)


class Site:
    """Pages of a study, which show its sources."""

    def __init__(self, sources):
        self.sources, self.folder = sources, sources.results / "site"
        self.pages = {"index.html": "Start", "explorer.html": "Explorer"}
        self.missing = []  # what, and which command would add it
        self.labels = {rf"\b{name}\b": get_algorithm(name).label for name in ALGORITHMS}
        self.waiting = []  # pages whose navigation also lists later ones
        loader = jinja2.FileSystemLoader(HERE / "templates")
        self.jinja = jinja2.Environment(
            loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True
        )
        self.jinja.filters |= {"number": number, "quoted": quoted, "margins": margins}
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(HERE / "assets", self.folder / "assets")
        for part in ("data", "notebooks", "pictures", "readings"):
            (self.folder / part).mkdir()
        self.write("assets/vega.js", vl_convert.javascript_bundle())

    def write(self, name, text):
        """Write a file."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def add(self, name, template, **content):
        """Add a page, which :meth:`finish` writes."""
        home = "../" * name.count("/")
        self.waiting.append((name, template, content | {"here": name, "home": home}))

    def finish(self):
        """Write all pages."""
        for name, template, content in self.waiting:
            self.write(name, self.jinja.get_template(template).render(site=self, **content))

    def lack(self, what, command):
        """Note what is missing, and which command makes it."""
        self.missing.append((what, self.sources.command(command)))

    def take(self, path, name):
        """Copy a file into the site; give its name there back, or None if there is no such file."""
        if not path.exists():
            return None
        shutil.copy(path, self.folder / name)
        return name

    def verdict(self, row):
        """What pages say about a row of verdicts."""
        ends = self.sources.demanded(row)
        judged = ends is not None and not pd.isna(row["estimate"])
        shown = {"demand": in_words(ends), "picture": picture_of(row, ends)} if judged else {}
        row = row.replace(self.labels, regex=True)
        return {**self.sources.claims.get(row["claim"], {}), **row.to_dict(), **shown}


def add_view(site, view):
    """Write what the explorer shows of a view, and a page with it that needs no JavaScript."""
    detail = site.jinja.get_template("detail.html.j2").module.detail
    verdicts = [site.verdict(row) for _, row in view.verdicts.iterrows()]
    content = {
        "curves": None if view.curves is None else rounded(view.curves),
        "details": {verdict["claim"]: detail(verdict, view) for verdict in verdicts},
    }
    text = json.dumps([view.slug, content], ensure_ascii=False, allow_nan=False)
    site.write(f"data/{view.slug}.js", f"receive(...{text});\n")
    words = ""
    if view.curves is not None:
        view.curves.to_csv(site.folder / f"data/{view.slug}.csv", index=False)
        style.save(panels.figure1(view.curves), site.folder / "pictures", view.slug, ["svg"])
        words = describe(view.curves)
    options = {"view": view, "verdicts": verdicts, "words": words, "columns": COLUMNS}
    site.add(f"readings/{view.slug}.html", "reading.html.j2", **options)


def add_explorer(site, views):
    """Write the page on which one chooses, and what its script has to know."""
    style.use_style()
    for view in views:
        add_view(site, view)
    shown = [
        {
            "algorithm": name,
            "metric": metric,
            "title": f"{get_algorithm(name).label}: {metric.replace('_', ' ')}",
        }
        for name in views[0].curves["algorithm"].unique()
        for metric in METRICS
    ]
    named = ("slug", "title", "about", "seeds", "missing")
    given = {
        "views": [{name: getattr(view, name) for name in named} for view in views],
        "panels": shown,
        "chart": charts.panel(),
    }
    text = json.dumps(given, ensure_ascii=False)
    site.write("data/site.js", f"const SITE = {text};\n")
    rows = pd.concat([view.verdicts.assign(view=view.slug) for view in views])
    experiment = set(report.of_experiment(rows)["claim"])
    cells = {(row["claim"], row["view"]): row for _, row in rows.iterrows()}
    site.add(
        "explorer.html",
        "explorer.html.j2",
        views=views,
        panels=shown,
        statements=rows.drop_duplicates("claim").to_dict("records"),
        cells=cells,
        sign=report.sign,
        experiment=experiment,
        words=describe(views[0].curves),
        columns=COLUMNS,
    )


def add_comparison(site):
    """Write the page of the comparison per answer, and of what else `make compare` makes."""
    sources = site.sources
    table = sources.table("comparison")
    if table is None:
        site.lack("Other methods, compared per human answer", "make compare")
        return
    site.pages["comparison.html"] = "Comparison"
    methods = sources.config["comparison"]["methods"]
    labels = {rf"^{name}(?=,|$)": it.get("label", name) for name, it in methods.items() if it}
    parts = []
    for name, analysis in analyses.find().items():
        if analysis.TARGET == "compare" and name != "comparison":
            path = sources.own.figures / f"{name}.svg"
            found = {
                table.title.removesuffix(" (table)"): sources.table(it)
                for it, table in analysis.TABLES.items()
            }
            parts.append(
                {
                    "name": name,
                    "title": analysis.title,
                    "picture": site.take(path, f"pictures/{name}.svg"),
                    "tables": {
                        title: it.replace(labels, regex=True)
                        for title, it in found.items()
                        if it is not None
                    },
                }
            )
    needed, judged = (sources.table(f"comparison_{name}") for name in ("answers", "verdicts"))
    picture = site.take(sources.own.figures / "comparison.svg", "pictures/comparison.svg")
    for what, found in (("figure", picture), ("answers needed", needed), ("verdicts", judged)):
        if found is None:
            site.lack(f"Comparison: {what}", "make compare")
    site.add(
        "comparison.html",
        "comparison.html.j2",
        picture=picture,
        needed=None if needed is None else answers_needed(needed.replace(labels, regex=True)),
        judged=[] if judged is None else judged.replace(labels, regex=True).to_dict("records"),
        tables=priced_gaps(table.replace(labels, regex=True)),
        parts=[part for part in parts if part["picture"] or part["tables"]],
    )


def answers_needed(table):
    """Answers that are needed, with a column for each priced gap."""
    cells = [
        f"more than {number(row['most'])}"
        if pd.isna(row["answers"])
        else f"{number(row['answers'])} ({number(row['surely']) or '—'})"
        for _, row in table.iterrows()
    ]
    keys = ["units", "method", "design"]
    shown = table.assign(cell=cells, target=[f"priced gap ≤ {it:g}" for it in table["target"]])
    rows = shown.pivot(index=keys, columns="target", values="cell")[shown["target"].unique()]
    order = shown[keys].drop_duplicates()
    return rows.loc[pd.MultiIndex.from_frame(order)].reset_index()


def priced_gaps(table):
    """What an answer buys, with intervals beside means: a table for each kind of units."""
    shown = table[table["priced_gap"].notna()]
    columns = {name: [with_interval(row, name) for _, row in shown.iterrows()] for name in PRICED}
    shown = shown[["units", "method", "design", "budget", "steps"]].assign(**columns)
    return {units: it.drop(columns="units") for units, it in shown.groupby("units", sort=False)}


def add_environments(site, views):
    """Write the page of verdicts in other environments, with pictures of policies."""
    table = site.sources.environments()
    if table is None:
        if site.sources.is_default:
            site.lack("The experiment in well-known environments", "make environments")
        return
    site.pages["environments.html"] = "Environments"
    pictures = [
        (name, site.take(path, f"pictures/{name}-{path.name}"))
        for name in table["study"].unique()
        for path in sorted((site.sources.results.parent / name / "figures").glob("policies*.svg"))
    ]
    if not pictures:
        site.lack("Policies on maps, and curves in other environments", "make environments")
    matrix = site.take(site.sources.own.figures / "environments.svg", "pictures/environments.svg")
    if matrix is None:
        site.lack("Environments: matrix of verdicts", "make environments")
    # In units of λ*; gap and violation, in units of what they can do, never change as much.
    restless = table[(table["claim"] == "zpgpd-gap-steady-state") & (table["estimate"] < -10)]
    site.add(
        "environments.html",
        "environments.html.j2",
        rows=table.to_dict("records"),
        abouts={view.slug: view.about for view in views},
        pictures=pictures,
        restless=restless.to_dict("records"),
        matrix=matrix,
    )


def add_notebooks(site):
    """Take the pages of all notebooks that have run; give back their titles, by file."""
    sources, found, lacking = site.sources, {}, {}
    for name, (title, command) in NOTEBOOKS.items():
        if name == "inference" and sources.name not in ON_RECORD:
            continue
        page = sources.page(name)
        if page:
            text = page.read_text(encoding="utf-8").replace("<main>", f"{BACK}\n<main>", 1)
            site.write(f"notebooks/{name}.html", text)
            found[f"notebooks/{name}.html"] = title
        else:
            lacking.setdefault(command, []).append(f"“{title}”")
    for command, titles in lacking.items():
        site.lack(f"{'Notebooks' if titles[1:] else 'Notebook'} {', '.join(titles)}", command)
    return found


def add_lessons(site):
    """Run the notebooks that need no study; give back their titles, by file."""
    found = {}
    for path, title in lessons.find(site.sources.root).items():
        found[f"notebooks/{path.stem}.html"] = title
        text = lessons.page(path, site.sources.root / "workflow/templates")
        site.write(f"notebooks/{path.stem}.html", text.replace("<main>", f"{BACK}\n<main>", 1))
    return found


def add_search(site, pages):
    """Write what the search looks through: lessons, documents and the package."""
    api = sorted((site.folder / "api").rglob("*.html"))
    modules = {path.relative_to(site.folder).as_posix(): path for path in api}
    names = {name: name[4:-5].replace("/", ".") for name in modules}
    search_index.write(site, pages | names)


def add_documents(site):
    """Write the documents that are for readers, and links between them."""
    (site.folder / "documents").mkdir()
    found = documents.find(site.sources.root)
    pages = {documents.page_of(path): title for path, title in found.items()}
    for path, title in found.items():
        text = documents.render(site, path)
        page = {"title": title, "text": text, "documents": pages}
        site.add(documents.page_of(path), "document.html.j2", **page)
    site.pages |= {page: "Documents" for page in [*pages][:1]}
    return pages


def add_documentation(site):
    """Write the library's documentation from its docstrings."""
    # pdoc sees only names that have been imported.
    for module in pkgutil.walk_packages(pgpd_hf.__path__, "pgpd_hf."):
        importlib.import_module(module.name)
    for name in pgpd_hf.__all__:
        vars(pgpd_hf)[name] = getattr(pgpd_hf, name)
    modules = [f"pgpd_hf.{module.name}" for module in pkgutil.iter_modules(pgpd_hf.__path__)]
    templates = HERE / "templates/pdoc"
    pdoc.render.configure(docformat="numpy", show_source=False, template_directory=templates)
    pdoc.pdoc("pgpd_hf", *modules, output_directory=site.folder / "api")
    for path in (site.folder / "api").rglob("*.html"):
        text = FORMULA.sub(as_mathml, path.read_text(encoding="utf-8"))
        for found, accessible in ACCESSIBLE.items():
            text = re.sub(found, accessible, text)
        path.write_text(text, encoding="utf-8")
    site.pages["api/pgpd_hf.html"] = "Package"


def main(configfile):
    """Write the site of the study that a file describes; of the default one without a file."""
    sources = Sources(ROOT, configfile)
    views = sources.views()
    site = Site(sources)
    add_comparison(site)
    add_environments(site, views)
    notebooks = add_notebooks(site)
    taught = add_lessons(site)
    article = site.take(ROOT / "article/article.pdf", "article.pdf") if sources.is_default else None
    if sources.is_default and article is None:
        site.lack("Article", "make article")
    pages = add_documents(site)
    add_documentation(site)
    add_explorer(site, views)
    readings = [view for view in views if view.group == READINGS]
    if not readings and sources.loaded:
        site.lack("Verdicts under other readings of the paper", "make claims")
    elif readings and all(view.curves is None for view in readings):
        site.lack("Curves of other readings", "make claims")
    first, provenance = views[0], sources.record("provenance")
    if first.verdicts.empty:
        site.lack("Verdicts", "make figures")
    if sources.name in ON_RECORD and sources.confirmation() is None:
        site.lack("Verdicts on fresh data", "make infer")
    tested = sources.table("controls")
    if tested is None:
        site.lack("Statements on wrong data", "make claims")
    parts = {"optimum.json": sources.optimum, "provenance.json": provenance}
    for name, content in parts.items():
        if content is None:
            site.lack(name, "make figures")
        else:
            site.take(sources.results / name, f"data/{name}")
    experiment = report.of_experiment(first.verdicts)
    site.add(
        "index.html",
        "index.html.j2",
        view=first,
        hard=any(view.slug == HARD for view in views),
        about_hard=ABOUT_HARD,
        verdicts=[site.verdict(row) for _, row in experiment.iterrows()],
        summary=report.in_short(experiment),
        informative="" if tested is None else controls.counted(experiment, tested),
        seeds=experiment["units"].max(),
        words=describe(first.curves),
        notebooks=notebooks,
        lessons=taught,
        documents=pages,
        article=article,
        optimum=sources.optimum,
        provenance=provenance,
    )
    site.finish()
    add_search(site, taught | pages)
    print(f"The site: {(site.folder / 'index.html').relative_to(ROOT)}")


if __name__ == "__main__":
    with validation.one_line((OSError, ValueError)):
        main(sys.argv[1])
