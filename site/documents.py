"""Documents of the repository as pages of the site."""

import html
import itertools
import os
import re
from pathlib import PurePosixPath

from markdown_it import MarkdownIt

DOCUMENTS = {  # in the order in which they are read, without those for developers
    "docs/results.md": "Results",
    "docs/which-method.md": "Which method when",
    "docs/claims.md": "How verdicts are made",
    "docs/audit.md": "The paper's proofs",
    "docs/for-the-authors.md": "To the authors",
    "config/README.md": "Configuration",
    "config/analyses/README.md": "Settings of analyses",
    "docs/cluster.md": "On a cluster",
    "docs/report.md": "Site, report, provenance and crate",
}
COPIED = {".csv", ".pdf", ".png", ".svg"}  # files that documents link to and the site takes along


def slug(title):
    """The anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def page_of(path):
    """Name of the page with a document."""
    path = PurePosixPath(path)
    name = path.parent.name if path.stem == "README" else path.stem
    return f"documents/{name}.html"


def find(root):
    """Documents that this copy has, with their titles."""
    return {path: title for path, title in DOCUMENTS.items() if (root / path).exists()}


def place_of(site, document, link):
    """Where a link of a document leads on the site; None if it leads to nothing there."""
    path, _, anchor = link.partition("#")
    if re.match(r"https?:", link) or not path:
        return link
    known = os.path.normpath(PurePosixPath(document).parent / path)  # links of folders stay
    target = site.sources.root / known
    if known in find(site.sources.root):
        return "../" + page_of(known) + (f"#{anchor}" if anchor else "")
    name = known.replace("/", "-")  # files of several folders have the same name
    if target.suffix in COPIED and site.take(target, f"documents/{name}"):
        return name
    return None


def open_table(renderer, tokens, index, options, env):
    """A wide table scrolls by itself, also by keyboard."""
    about = html.escape(tokens[index].meta["about"])
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Table: {about}"><table>\n'


def close_table(renderer, tokens, index, options, env):
    """The end of a wide table."""
    return "</table></div>\n"


def render(site, document):
    """HTML of a document: headings have anchors, wide tables scroll, links stay within the site."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.add_render_rule("table_open", open_table)
    parser.add_render_rule("table_close", close_table)
    tokens = parser.parse((site.sources.root / document).read_text(encoding="utf-8"))
    tables = 0
    for token, following in itertools.pairwise(tokens):
        if token.type == "heading_open":
            heading = "".join(it.content for it in following.children)
            token.attrSet("id", slug(heading))
        elif token.type == "table_open":
            tables += 1
            token.meta["about"] = f"{heading} ({tables})"
        for link in token.children or ():
            key = {"link_open": "href", "image": "src"}.get(link.type)
            if key and (place := place_of(site, document, link.attrs[key])):
                link.attrSet(key, place)
            elif key:  # without a target it is plain text
                del link.attrs[key]
    return parser.renderer.render(tokens, parser.options, {})
