r"""Link functions: from a difference of returns to the probability of a vote.

Assumption 2.1 of the paper asks for a continuous, strictly increasing :math:`\sigma` with
:math:`\sigma(0) = 1/2` whose inverse is Lipschitz on :math:`[\sigma(-B), \sigma(B)]`, where
:math:`B` bounds the difference. All links here are distribution functions of symmetric unimodal
densities; their inverses are steepest at both ends of this interval, with the Lipschitz constant
:math:`1/\sigma'(B)`. A new link needs a branch in :func:`probability` and in :func:`derivative`,
which kernels call, and an entry in :data:`LINKS`.

The inverses are odd functions of :math:`y = 2p - 1`, and analytic on (-1, 1). All coefficients of
their series :math:`\sigma^{-1}((1 + y)/2) = c_1 y + c_3 y^3 + c_5 y^5 + \dots` are positive and
the inverses are infinite at one, so the series converge for :math:`|y| < 1` and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # imports its parts when they are used
from numpy.typing import ArrayLike, NDArray

from pgpd_hf.core.arguments import require_one_of
from pgpd_hf.core.compilation import njit

_LOGISTIC, _PROBIT, _CAUCHY = range(3)


@dataclass(frozen=True)
class Link:
    r"""A link function :math:`\sigma`.

    Attributes
    ----------
    name : str
        Its name in configurations.
    code : int
        Its number in :func:`probability`.
    inverse : callable
        :math:`\sigma^{-1}` on arrays of probabilities; infinite at 0 and 1.
    density : callable
        :math:`\sigma'` on floats.
    series : callable or None
        From a number of terms to as many coefficients :math:`c_1, c_3, c_5, \dots`; None for a
        link without a power series that converges on (-1, 1).
    """

    name: str
    code: int
    inverse: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    density: Callable[[float], float]
    series: Callable[[int], NDArray[np.float64]] | None = None

    def clipped_inverse(self, probability: ArrayLike, bound: float) -> NDArray[np.float64]:
        r"""Inverse link of a clipped frequency, :math:`\sigma^{-1}(\mathrm{clip}[p])`.

        Since :math:`\sigma` increases, the frequency may be clipped at :math:`\sigma(\pm B)` or its
        inverse at :math:`\pm B`. The latter also works where :math:`\sigma(B)` rounds to one.

        Parameters
        ----------
        probability : array_like, float
            In [0, 1].
        bound : float
            :math:`B > 0`; in the paper :math:`G(H)`.

        Returns
        -------
        ndarray, float64
            In :math:`[-B, B]`.
        """
        return np.clip(self.inverse(np.asarray(probability, dtype=np.float64)), -bound, bound)

    def inverse_lipschitz(self, bound: float) -> float:
        r"""Lipschitz constant :math:`L` of the inverse on :math:`[\sigma(-B), \sigma(B)]`.

        Parameters
        ----------
        bound : float
            :math:`B > 0`.

        Returns
        -------
        float
            :math:`1/\sigma'(B)` (Assumption 2.1); infinite if that overflows.

        Examples
        --------
        >>> from pgpd_hf import LINKS
        >>> LINKS["logistic"].inverse_lipschitz(0.0)
        4.0
        """
        try:
            return 1 / self.density(bound)
        except (OverflowError, ZeroDivisionError):
            return math.inf


@njit
def probability(code, x):
    r"""Probability :math:`\sigma(x)` of a vote in favour.

    Parameters
    ----------
    code : int
        Of the link. (A kernel that took the link as a function could not be cached on disk.)
    x : float
        Difference of returns.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> from pgpd_hf import LINKS
    >>> from pgpd_hf.core.links import probability
    >>> [round(probability(LINKS[name].code, 1.0), 3) for name in ("logistic", "probit", "cauchy")]
    [0.731, 0.841, 0.75]
    """
    if code == _LOGISTIC:
        return 1 / (1 + math.exp(-x))
    if code == _PROBIT:
        return 0.5 * math.erfc(-x / math.sqrt(2))
    return 0.5 + math.atan(x) / math.pi


@njit
def derivative(code, x):
    r"""Derivative :math:`\sigma'(x)` of the probability of a vote.

    Parameters
    ----------
    code : int
        Of the link.
    x : float
        Difference of returns.

    Returns
    -------
    float
        Positive, unless it underflows.
    """
    if code == _LOGISTIC:
        return probability(code, x) * probability(code, -x)
    if code == _PROBIT:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return 1 / (math.pi * (1 + x * x))


def _logistic_series(terms):
    """Coefficients of 2 artanh(y): 2/j."""
    return 2 / np.arange(1, 2 * terms, 2)


def _probit_series(terms):
    r"""Coefficients of :math:`\sqrt2\,\mathrm{erf}^{-1}(y)`.

    For :math:`f(z) = \mathrm{erf}^{-1}(2z/\sqrt\pi) = \sum_k b_k z^{2k+1}/(2k+1)` the equation
    :math:`f'' = 2 f f'^2` gives :math:`b_k = \sum_{i<k} b_i b_{k-1-i} / ((i+1)(2i+1))`.
    """
    b = np.ones(terms)
    index = np.arange(terms)
    weight = 1 / ((index + 1) * (2 * index + 1))
    for k in range(1, terms):
        b[k] = (weight * b)[:k] @ b[k - 1 :: -1]
    degree = 2 * index + 1
    return math.sqrt(2) * b / degree * (math.sqrt(math.pi) / 2) ** degree


def _cauchy_series(terms):
    r"""Coefficients of :math:`\tan(\pi y/2)`: :math:`4/\pi` times the sum of 1/n^(j+1), n odd."""
    power = np.arange(2, 2 * terms + 1, 2)
    return 4 / math.pi * (1 - 0.5**power) * scipy.special.zeta(power)


LINKS = {
    link.name: link
    for link in (
        Link(
            name="logistic",
            code=_LOGISTIC,
            inverse=lambda share: scipy.special.logit(share),
            density=lambda x: 1 / (2 + 2 * math.cosh(x)),
            series=_logistic_series,
        ),
        Link(
            name="probit",
            code=_PROBIT,
            inverse=lambda share: scipy.special.ndtri(share),
            density=lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
            series=_probit_series,
        ),
        Link(
            name="cauchy",
            code=_CAUCHY,
            inverse=lambda p: np.where(
                (p == 0) | (p == 1), np.copysign(np.inf, p - 0.5), np.tan(math.pi * (p - 0.5))
            ),
            density=lambda x: 1 / (math.pi * (1 + x * x)),
            series=_cauchy_series,
        ),
    )
}


def get_link(name: str) -> Link:
    """Look a link up by name.

    Parameters
    ----------
    name : str
        A key of :data:`LINKS`.

    Returns
    -------
    Link

    Raises
    ------
    ValueError
        If there is no such link; the message lists all names.
    """
    require_one_of("link", name, LINKS)
    return LINKS[name]
