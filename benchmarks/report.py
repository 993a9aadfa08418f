"""The table of the benchmark, as Markdown."""

_TITLES = {"npgpd_hf": "NPGPD-HF", "zpgpd_hf": "ZPGPD-HF"}


def rows(task, seeds, times):
    """Rows of one case: one core, and all cores if they were used.

    Times are seconds per environment step, by label and number of cores.
    """
    result = []
    for used in sorted({used for _, used in times}):
        here = {label: seconds for (label, count), seconds in times.items() if count == used}
        gains = {label: times[label, 1] / seconds for label, seconds in here.items() if used > 1}
        result.append(
            {
                "algorithm": _TITLES[task.algorithm],
                "N": task.rounds,
                "seeds": seeds,
                "cores": used,
                "iteration": here["engine"] * 1e6 * task.steps_per_iteration,
                "gains": gains,
                **{label: seconds * 1e9 for label, seconds in here.items()},
            }
        )
    return result


def table(rows, peers):
    """Format rows: ratios first, then what they are ratios of.

    Ratios say how many times as long as the limit the engine takes, how many times as long as the
    engine a peer takes, and what all cores gain. All peers have a column, measured or not.
    """
    peers = [peer for peer in peers if peer != "limit"]
    header = ["algorithm", "N", "seeds", "cores", "engine / limit"]
    header += [f"{peer} / engine" for peer in peers]
    header += ["1 core / all", "C: 1 core / all", "engine, ns per step", "engine, µs per iteration"]
    header += [f"{peer}, ns per step" for peer in ("limit", *peers)]
    lines = [header, ["---"] * 4 + ["--:"] * (len(header) - 4)]
    for row in rows:
        cells = [row["algorithm"], str(row["N"]), str(row["seeds"]), str(row["cores"])]
        cells += [_cell(row["engine"] / row["limit"] if "limit" in row else None)]
        cells += [_cell(row[peer] / row["engine"] if peer in row else None) for peer in peers]
        cells += [_cell(row["gains"].get(label)) for label in ("engine", "C")]
        cells += [_cell(row["engine"]), _cell(row["iteration"])]
        cells += [_cell(row.get(peer)) for peer in ("limit", *peers)]
        lines.append(cells)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _cell(number):
    if number is None:
        return "–"
    # Three digits, two decimals at most: 1.85, 14.2, 1234.
    return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f}"
