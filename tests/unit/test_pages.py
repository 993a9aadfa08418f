import pandas as pd

from pgpd_hf.support import pages


def test_page_shows_tables_with_what_would_be_markup(tmp_path):
    table = pd.DataFrame({"what": ["a < b", None], "value": [0.123456, 2.0]})
    pages.write_page(tmp_path / "page.html", "A & B", {"Table <1>": table})
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>A &amp; B</h1>" in page
    assert "<h2>Table &lt;1&gt;</h2>" in page
    assert "<td>a &lt; b</td>" in page
    assert "<td>0.1235</td>" in page
    assert "<td></td>" in page
