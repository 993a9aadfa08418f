r"""Link functions: from a difference of returns to the probability of a vote.

Assumption 1 of the paper asks for a continuous, strictly increasing :math:`\sigma` with
:math:`\sigma(0) = 1/2` whose inverse is Lipschitz on :math:`[\sigma(-B), \sigma(B)]`, where
:math:`B` bounds the difference. All links here are distribution functions of symmetric unimodal
densities; their inverses are steepest at both ends of this interval, with the Lipschitz constant
:math:`1/\sigma'(B)`. A new link needs a branch in :func:`probability`, which the kernels call, and
an entry in :data:`LINKS`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

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
    """

    name: str
    code: int
    inverse: Callable
    density: Callable

    def clipped_inverse(self, probability, bound):
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

    def inverse_lipschitz(self, bound):
        r"""Lipschitz constant :math:`L` of the inverse on :math:`[\sigma(-B), \sigma(B)]`.

        Parameters
        ----------
        bound : float
            :math:`B > 0`.

        Returns
        -------
        float
            :math:`1/\sigma'(B)` (Assumption 1); infinite if that overflows.

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


LINKS = {
    link.name: link
    for link in (
        Link(
            name="logistic",
            code=_LOGISTIC,
            inverse=special.logit,
            density=lambda x: 1 / (2 + 2 * math.cosh(x)),
        ),
        Link(
            name="probit",
            code=_PROBIT,
            inverse=special.ndtri,
            density=lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        ),
        Link(
            name="cauchy",
            code=_CAUCHY,
            inverse=lambda p: np.where(
                (p == 0) | (p == 1), np.copysign(np.inf, p - 0.5), np.tan(math.pi * (p - 0.5))
            ),
            density=lambda x: 1 / (math.pi * (1 + x * x)),
        ),
    )
}


def get_link(name):
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
