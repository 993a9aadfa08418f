"""Tables as an HTML page that needs no other file."""

from html import escape

from pgpd_hf.support.storage import write_text

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 2em; }
h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #ddd; padding: 0.3em 1.2em 0.3em 0; text-align: left;
  vertical-align: top; }
th { font-weight: 600; }
"""
_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>{style}</style>
<h1>{title}</h1>
{tables}
</html>
"""


def write_page(path, title, tables):
    """Write tables as an HTML file.

    Parameters
    ----------
    path : path-like
        The file.
    title : str
        Heading of the page.
    tables : dict of str to pandas.DataFrame
        Shown below each other under their names, without index; missing cells are empty.
    """
    options = {"index": False, "na_rep": "", "border": 0, "justify": "left"}
    parts = [
        f"<h2>{escape(name)}</h2>\n{table.to_html(**options, float_format='{:.4g}'.format)}"
        for name, table in tables.items()
    ]
    page = _PAGE.format(title=escape(title), style=_STYLE, tables="\n".join(parts))
    write_text(path, page)
