"""Running means of all iterates of a run, and what is recorded of it at checkpoints."""

from pgpd_hf.core.compilation import njit


@njit
def record(values, multipliers, first, grid, sums, rows):
    """Add the values of consecutive iterates to running sums; fill in what checkpoints record.

    One value is added after the other, so that the bits do not depend on where a run is cut.

    Parameters
    ----------
    values : tuple of ndarray, float64, shape (iterates,)
        Reward and utility values.
    multipliers : ndarray, float64, shape (iterates,)
        Their multipliers.
    first : int
        Number of the first of these iterates.
    grid : ndarray, int64
        Checkpoints, increasing numbers of iterates.
    sums : ndarray, float64, shape (2,)
        Sums of both values over all earlier iterates; changed in place.
    rows : ndarray, float64, shape (5, checkpoints)
        V_r, V_g, the multiplier, and the running means of both values. Columns of checkpoints among
        these iterates are overwritten.
    """
    reward, utility = values
    column = 0
    while column < len(grid) and grid[column] < first:
        column += 1
    for k in range(len(multipliers)):
        sums[0] += reward[k]
        sums[1] += utility[k]
        iterate = first + k
        if column < len(grid) and grid[column] == iterate:
            rows[0, column] = reward[k]
            rows[1, column] = utility[k]
            rows[2, column] = multipliers[k]
            rows[3, column] = sums[0] / (iterate + 1)
            rows[4, column] = sums[1] / (iterate + 1)
            column += 1
