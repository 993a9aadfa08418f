"""The table that a verification prints."""

_WIDTHS = (46, 21, 21)


def format_table(sections):
    """Format checks as a table of at most 100 columns, details below each line.

    Parameters
    ----------
    sections : sequence of tuple of (str, list of Check)
        Headings and what was checked.

    Returns
    -------
    str
    """
    lines = [_line("what", "expected", "found", "agrees"), "-" * 100]
    for heading, checks in sections:
        lines += ["", heading] if checks else []
        for check in checks:
            answer = f"yes, {check.how}" if check.agrees else "NO"
            lines.append(_line(f"  {check.what}", check.expected, check.found, answer))
            lines += [f"    {detail}" for detail in check.detail]
    return "\n".join(lines)


def _line(*cells):
    *first, last = cells
    padded = [f"{cell:<{width}}" for cell, width in zip(first, _WIDTHS, strict=True)]
    return " ".join([*padded, last]).rstrip()
