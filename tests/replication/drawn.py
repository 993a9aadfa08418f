"""What error bars and bands of a panel say, read off what is drawn."""


def bars(axes, across=False):
    """Lower and upper ends of error bars, by container; `across` is the panel's other direction."""
    ends = [it.lines[2][0].get_segments() for it in axes.containers]
    return [[tuple(segment[:, 1 - across].tolist()) for segment in found] for found in ends]


def bands(axes):
    """Lower and upper ends of bands at each place, by band."""
    return [_ends(path) for it in axes.collections for path in it.get_paths()]


def _ends(path):
    """Least and largest height of a shape at each of its places."""
    heights = {}
    for x, y in path.vertices.tolist():
        heights.setdefault(x, []).append(y)
    return {x: (min(found), max(found)) for x, found in sorted(heights.items())}
