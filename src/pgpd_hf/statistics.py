"""Statistics over units of replication, such as seeds: intervals, tests and verdicts."""

import numpy as np
import pandas as pd
import scipy  # imports its parts when they are used

LEVEL = 0.95
VERDICTS = ("reproduced", "contradicted", "inconclusive")  # on a statement
METRICS = ("optimality_gap", "constraint_violation")  # of what a trace has
VALUES = tuple(
    (
        "reward_value utility_value multiplier optimality_gap constraint_violation "
        "mean_optimality_gap mean_constraint_violation answers steps"
    ).split()
)


def student_quantile(probability, freedom):
    """Quantile of Student's t distribution.

    Parameters
    ----------
    probability : float
        In (0, 1).
    freedom : float
        Degrees of freedom, positive; infinity is the normal distribution.

    Returns
    -------
    float
    """
    return float(scipy.special.stdtrit(freedom, probability))


def student_test(mean, error, freedom):
    """Test whether a mean is positive, and whether it is negative, by one-sided t tests.

    Parameters
    ----------
    mean, error, freedom : float
        Estimate, its standard error, and the degrees of freedom of that.

    Returns
    -------
    positive, negative : float
        The p values. Without an error both are known, and zero counts as negative.
    """
    if error == 0:
        return (0.0, 1.0) if mean > 0 else (1.0, 0.0)
    score = mean / error
    return float(scipy.special.stdtr(freedom, -score)), float(scipy.special.stdtr(freedom, score))


def mean_test(samples):
    """Test whether a mean is positive, and whether it is negative.

    Parameters
    ----------
    samples : array_like, float
        Independent samples.

    Returns
    -------
    positive, negative : float
        The p values; 1 if there is one sample only, or none.
    """
    count = len(samples)
    if count < 2:
        return 1.0, 1.0
    mean, error = np.mean(samples), np.std(samples, ddof=1) / np.sqrt(count)
    return tuple(student_test(sign * mean, error, count - 1)[0] for sign in (1, -1))


def student_power(distance, error, freedom, level):
    """Probability that a one-sided t test at a level shows a mean of a given size to be positive.

    Parameters
    ----------
    distance, error, freedom : float
        The true mean, its standard error, and the degrees of freedom of that.
    level : float
        Level of the test, in (0, 1).

    Returns
    -------
    float
    """
    if error == 0:
        return float(distance > 0)
    quantile = student_quantile(1 - level, freedom)
    # The upper tail is the lower one of the opposite law; `scipy.stats` is slow to import.
    return float(scipy.special.nctdtr(freedom, -distance / error, -quantile))


def errors_for(power, level):
    """Size of a mean, in standard errors, that a one-sided normal test shows with a given power.

    Parameters
    ----------
    power, level : float
        Power and level of the test, in (0, 1).

    Returns
    -------
    float
    """
    return scipy.special.ndtri(1 - level) + scipy.special.ndtri(power)


def joint_test(inside, outside):
    """Test whether a statement of several parts holds, and whether it does not.

    Parameters
    ----------
    inside, outside : sequence of float
        For each part, p values of the tests that show that it holds, and that it does not.

    Returns
    -------
    reproduced, contradicted : float
        The p values: all parts hold (the largest one, an intersection-union test), some part does
        not (the smallest one times their number, Bonferroni).
    """
    return max(inside), min(1.0, len(outside) * min(outside))


def verdict(shown, refuted, words=VERDICTS):
    """Word for what is shown.

    Parameters
    ----------
    shown, refuted : bool
        Whether a statement is shown to hold, and whether it is shown not to.
    words : sequence of 3
        For the first, for the second, and for neither.

    Returns
    -------
    object
        One of `words`.
    """
    return words[0] if shown else words[1] if refuted else words[2]


def mean_interval(samples, level=LEVEL):
    """Mean and Student's t interval.

    Parameters
    ----------
    samples : array_like, float
        Independent samples.
    level : float
        Coverage in (0, 1).

    Returns
    -------
    mean, low, high : float
        The interval is NaN if there is one sample only.

    Examples
    --------
    >>> mean, low, high = mean_interval([1.0, 2.0, 3.0])
    >>> round(low, 3), mean, round(high, 3)
    (-0.484, 2.0, 4.484)
    """
    samples = np.asarray(samples, dtype=np.float64)
    mean, count = float(samples.mean()), len(samples)
    if count < 2:
        return mean, np.nan, np.nan
    quantile = student_quantile((1 + level) / 2, count - 1)
    half = float(quantile * samples.std(ddof=1) / np.sqrt(count))
    return mean, mean - half, mean + half


def named_intervals(table, names, level=LEVEL):
    """Means of columns and their intervals, under the names of the columns.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per sample.
    names : sequence of str
        Columns to reduce.
    level : float
        Coverage in (0, 1).

    Returns
    -------
    dict of float
        For each name the mean (under the same name) and the ends of its interval (with `_low` and
        `_high`).
    """
    found = {}
    for name in names:
        ends = mean_interval(table[name].to_numpy(), level)
        found |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
    return found


def ends_of(name, columns):
    """Names of the ends of an estimate's interval.

    Parameters
    ----------
    name : str
        Column of the estimate.
    columns : collection of str
        Columns of its table.

    Returns
    -------
    list of str
        `NAME_low` and `NAME_high`, or else `low` and `high`.
    """
    return [f"{name}_low", f"{name}_high"] if f"{name}_low" in columns else ["low", "high"]


def with_interval(row, name, spec="+.4f"):
    """An estimate and its interval as text for people.

    Parameters
    ----------
    row : mapping
        With the estimate, and the ends of its interval as :func:`ends_of` names them.
    name : str
        The estimate.
    spec : str
        Format of the numbers.

    Returns
    -------
    str

    Examples
    --------
    >>> with_interval({"gap": 0.2, "gap_low": 0.1, "gap_high": 0.3}, "gap")
    '+0.2000 [+0.1000, +0.3000]'
    >>> with_interval({"mean": 0.2, "low": np.nan, "high": np.nan}, "mean")
    '+0.2000 (no interval)'
    >>> with_interval({"mean": np.nan, "low": np.nan, "high": np.nan}, "mean")
    '—'
    """
    estimate, low, high = (float(row[column]) for column in (name, *ends_of(name, row)))
    if np.isnan(estimate):
        return "—"
    ends = "(no interval)" if np.isnan(low) else f"[{low:{spec}}, {high:{spec}}]"
    return f"{estimate:{spec}} {ends}"


def intervals(table, keys, names):
    """Means of columns and their intervals by group, one below the other.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per sample.
    keys : sequence of str
        Columns that tell groups apart.
    names : sequence of str
        Columns to reduce.

    Returns
    -------
    pandas.DataFrame
        A row per group, in the order of their first rows, and name: the keys, metric (the name),
        mean, low, high, and seeds (the number of samples).
    """
    rows = [
        (*key, name, *mean_interval(group[name]), len(group))
        for key, group in table.groupby(list(keys), sort=False, dropna=False)
        for name in names
    ]
    return pd.DataFrame(rows, columns=[*keys, "metric", "mean", "low", "high", "seeds"])


def error_of_sum(samples):
    r"""Standard error of a sum of means of independent samples (Welch, Satterthwaite).

    Parameters
    ----------
    samples : sequence of array_like, float
        Independent samples of at least two numbers each, whose variances may differ.

    Returns
    -------
    error : float
        :math:`\sqrt{\sum_i s_i^2/n_i}`.
    freedom : float
        Degrees of freedom of its t distribution; infinite if the error is zero.

    Examples
    --------
    >>> error_of_sum([[0.0, 2.0], [1.0, 1.0, 1.0]])
    (1.0, 1.0)
    """
    counts = np.array([len(sample) for sample in samples])
    variances = np.array([np.var(sample, ddof=1) for sample in samples]) / counts
    total = variances.sum()
    if total == 0:
        return 0.0, np.inf
    return float(np.sqrt(total)), float(total**2 / (variances**2 / (counts - 1)).sum())


def difference_interval(first, second, level=LEVEL):
    """Difference of two means, and Welch's t interval.

    Parameters
    ----------
    first, second : array_like, float
        Independent samples, whose variances may differ.
    level : float
        Coverage in (0, 1).

    Returns
    -------
    difference, low, high : float
        Mean of the first minus mean of the second. The interval is NaN if one of the samples has
        one number only.

    Examples
    --------
    >>> difference, low, high = difference_interval([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    >>> round(difference, 3), round(low, 3), round(high, 3)
    (1.0, -1.267, 3.267)
    """
    difference = float(np.mean(first) - np.mean(second))
    if min(len(first), len(second)) < 2:
        return difference, np.nan, np.nan
    error, freedom = error_of_sum([first, second])
    half = student_quantile((1 + level) / 2, freedom) * error
    return difference, difference - half, difference + half


def aggregate(traces: pd.DataFrame) -> pd.DataFrame:
    """Reduce traces over seeds.

    Parameters
    ----------
    traces : pandas.DataFrame
        Rows of :func:`pgpd_hf.run`, for any algorithms and M, but one CMDP and one setting.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, evaluators and iteration, sorted in this order: the number of `seeds`,
        and for each of :data:`VALUES` the mean (under the same name) and the ends of its interval
        (with `_low` and `_high`).

    Raises
    ------
    ValueError
        If columns or rows are missing, or a seed has two rows for the same iteration.

    Examples
    --------
    >>> import pgpd_hf
    >>> trace = pgpd_hf.run(pgpd_hf.random_cmdp(), "npg_pd", seeds=[0, 1], iterations=10)
    >>> curve = pgpd_hf.aggregate(trace)
    >>> curve["iteration"].tolist()[-1], curve["seeds"].unique().tolist()
    (10, [2])
    """
    keys = ["algorithm", "evaluators", "iteration"]
    columns = getattr(traces, "columns", ())
    if lacking := [name for name in (*keys, "seed", *VALUES) if name not in columns]:
        raise ValueError(
            f"traces: rows of pgpd_hf.run expected; columns lack: {', '.join(lacking)}"
        )
    if traces.empty:
        raise ValueError("traces: at least one row expected")
    if traces.duplicated([*keys, "seed"]).any():
        raise ValueError(
            "traces: several rows for the same algorithm, evaluators, iteration and seed; each "
            "setting and each CMDP is aggregated by itself"
        )
    rows = [
        dict(zip(keys, key, strict=True)) | {"seeds": len(group), **named_intervals(group, VALUES)}
        for key, group in traces.sort_values("seed").groupby(keys, dropna=False)
    ]
    return pd.DataFrame(rows).astype({key: traces[key].dtype for key in keys})


def loglog_slope(positions, samples, resamples=2000):
    """Slope of log mean against log position, with a bootstrap interval over seeds.

    Parameters
    ----------
    positions : array_like, float, shape (n,)
        Positive, such as values of T.
    samples : sequence of n array_like, float
        Independent samples, one per seed, at each position.
    resamples : int
        Number of bootstrap resamples; the seeds are resampled at each position separately.

    Returns
    -------
    slope, low, high : float
        NaN where a mean is not positive, so that it has no logarithm.

    Examples
    --------
    >>> samples = [[1.0, 1.0], [0.5, 0.5], [0.25, 0.25]]
    >>> slope, low, high = loglog_slope([100, 400, 1600], samples, resamples=100)
    >>> round(slope, 3)
    -0.5
    """
    from scipy import stats  # slow to import, and needed here only

    groups = [np.asarray(group, dtype=np.float64) for group in samples]
    logs = np.log(np.asarray(positions, dtype=np.float64))
    centred = logs - logs.mean()

    def slope(means):
        return np.log(np.where(means > 0, means, np.nan)) @ centred / (centred @ centred)

    estimate = float(slope(np.array([group.mean() for group in groups])))
    if not np.isfinite(estimate) or min(map(len, groups)) < 2:
        return estimate, np.nan, np.nan
    # A resample whose mean is not positive has no slope; the interval is NaN then.
    drawn = slope(_resampled_means(groups, resamples))
    tail = (1 - LEVEL) / 2
    return estimate, *stats.quantile(drawn, [tail, 1 - tail]).tolist()


def power_with_floor(positions, samples):
    r"""Fit mean = a + c x^p with a, c >= 0 and p < 0, with bootstrap intervals over seeds.

    A floor bends the line on log-log axes, so that a plain slope would look like a slower rate. The
    fit minimizes the squares of relative errors; p is taken from a grid. Where there is no floor, p
    and its interval tend to be too low, since a cannot be negative.

    Parameters
    ----------
    positions : array_like, float, shape (n,)
        Positive, such as values of T; n >= 4.
    samples : sequence of n array_like, float
        Independent samples, one per seed, at each position.

    Returns
    -------
    floor, power : tuple of float
        Estimate and ends of the interval of a, and of p. NaN if a mean is not positive or there
        are fewer than four positions. The ends are also NaN if a resample has a mean that is not
        positive: it has no fit, and an interval of the others would be too narrow.
    """
    groups = [np.asarray(group, dtype=np.float64) for group in samples]
    x = np.asarray(positions, dtype=np.float64)
    means = np.array([group.mean() for group in groups])
    missing = (np.nan, np.nan, np.nan)
    if len(x) < 4 or not (means > 0).all():
        return missing, missing
    floor, power = _fit_power_with_floor(x, means[None])
    alone = (float(floor[0]), np.nan, np.nan), (float(power[0]), np.nan, np.nan)
    drawn = _resampled_means(groups, resamples=500)
    if min(map(len, groups)) < 2 or not (drawn > 0).all():
        return alone
    floors, powers = _fit_power_with_floor(x, drawn)
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    fits = (floor, floors), (power, powers)
    return tuple((float(fit[0]), *np.quantile(fitted, ends).tolist()) for fit, fitted in fits)


def _resampled_means(groups, resamples):
    """Means of bootstrap resamples, drawn in each group separately: shape (resamples, n)."""
    random = np.random.default_rng(0)  # the same in every call
    draws = [group[random.integers(len(group), size=(resamples, len(group)))] for group in groups]
    return np.stack([draw.mean(1) for draw in draws], axis=1)


def _fit_power_with_floor(x, means):
    """Floors and powers of many curves at once; `means` has shape (curves, n)."""
    powers = np.linspace(-2, -0.02, 991)  # (p,)
    basis = (x / x[0]) ** powers[:, None]  # (p, n)
    weight = means**-2.0  # (curves, n)
    total, first, second = weight.sum(1)[:, None], weight @ basis.T, weight @ basis.T**2
    height, product = (weight * means).sum(1)[:, None], (weight * means) @ basis.T
    determinant = total * second - first**2
    floor = np.zeros_like(determinant)
    np.divide(height * second - product * first, determinant, out=floor, where=determinant > 0)
    floor = np.maximum(floor, 0)
    factor = (product - floor * first) / second
    negative = factor < 0
    floor = np.where(negative, height / total, floor)
    factor = np.where(negative, 0, factor)
    fitted = floor[..., None] + factor[..., None] * basis  # (curves, p, n)
    error = (weight[:, None] * (means[:, None] - fitted) ** 2).sum(-1)
    best = error.argmin(1)
    return floor[np.arange(len(means)), best], powers[best]
