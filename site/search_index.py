"""What the search of a site looks through: sections of pages, with their words."""

import json
import re
from html.parser import HTMLParser

SKIPPED = {"nav", "script", "style", "header", "footer", "title", "button"}
HEADINGS = {"h1", "h2", "h3"}


class Sections(HTMLParser):
    """Sections of a page in HTML: of each the place, the heading and the words.

    A page is a document, a notebook or, with a section for each name, one of pdoc.
    """

    def __init__(self, text):
        super().__init__()
        self.found, self.skipping, self.heading = [["", "", ""]], 0, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.skipping += tag in SKIPPED
        if "id" not in given or self.skipping:
            return
        if tag in HEADINGS:
            self.heading = True
            self.found.append([given["id"], "", ""])
        elif tag == "section" or "classattr" in (given.get("class") or ""):
            self.found.append([given["id"], given["id"], ""])

    def handle_endtag(self, tag):
        self.skipping -= tag in SKIPPED
        self.heading = self.heading and tag not in HEADINGS

    def handle_data(self, data):
        if not self.skipping:
            self.found[-1][1 if self.heading else 2] += data


def sections(folder, pages):
    """Rows of the index: address, title of the page, heading and words."""
    rows = []
    for name, title in pages.items():
        for place, *texts in Sections((folder / name).read_text(encoding="utf-8")).found:
            heading, words = (re.sub(r"[\s¶]+", " ", it).strip() for it in texts)
            if words:
                rows.append([f"{name}#{place}" if place else name, title, heading, words])
    return rows


def write(site, pages):
    """Write the index of some pages, as a script: pages on disk may load nothing else."""
    rows = json.dumps(sections(site.folder, pages), ensure_ascii=False)
    site.write("data/search.js", f"const SECTIONS = {rows};\n")
