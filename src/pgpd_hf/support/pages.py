"""Tables as a page that a browser shows without anything else."""

from html import escape

from pgpd_hf.support.storage import recording

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 2em; }
h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #ddd; padding: 0.3em 1.2em 0.3em 0; text-align: left;
  vertical-align: top; }
th { font-weight: 600; }
"""


def write_page(path, title, tables):
    """Write tables as an HTML file.

    Parameters
    ----------
    path : path-like
        The file.
    title : str
        Its heading.
    tables : dict of str to pandas.DataFrame
        Shown one below the other under their names, without their indices; missing cells are empty.
    """
    parts = [
        f"<h2>{escape(name)}</h2>\n"
        + table.to_html(
            index=False, na_rep="", border=0, justify="left", float_format="{:.4g}".format
        )
        for name, table in tables.items()
    ]
    page = (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(parts) + "\n</html>\n"
    )
    with recording(path) as partial:
        partial.write_text(page, encoding="utf-8")
