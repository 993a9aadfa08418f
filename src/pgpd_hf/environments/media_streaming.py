r"""Media streaming: a buffer of packets that must not run empty, at a price for each fast request.

A published test of safe reinforcement learning in tables. In every time slot the agent asks the
server for its fast or its slow service, a packet arrives with the probability of that service, and
one leaves with another probability.

The model is that of Bura, HasanzadeZonuzy, Kalathil, Shakkottai and Chamberland, "DOPE: Doubly
Optimistic and Pessimistic Exploration for Safe Reinforcement Learning" (NeurIPS 2022), whose code
(archanabura/DOPE-DoublyOptimisticPessimisticExploration, Codes/MediaControl/model-queue.py) has 10
states, departures with probability 0.8, and the roles the other way round: an empty buffer is what
is minimised, and fast service what is constrained. Roles and numbers here (20 states, rates 0.9,
0.1 and 0.7, start half full; fast service costs reward, an empty buffer is the cost) are those of
MASA-Safe-RL (sacktock/MASA-Safe-RL, masa/envs/tabular/media_streaming.py), but for the boundary:
there a fast request at a full buffer always brings a packet, so that the buffer never shrinks while
one goes on asking; here arrivals are the same in all states, as in DOPE.
"""

from __future__ import annotations

import numpy as np

from pgpd_hf.core.arguments import require_integer, require_number
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.optima import utility_range

_MOST_STATES = 4096  # a quarter of a gibibyte of transition probabilities


def media_streaming(
    buffer: int = 20,
    *,
    fast: float = 0.9,
    slow: float = 0.1,
    leaving: float = 0.7,
    at_most: float = 0.1,
    discount: float = 0.95,
) -> CMDP:
    r"""Make the environment.

    A state is the number of packets in the buffer, from 0 to `buffer` - 1. Action 0 asks for the
    slow service, action 1 for the fast one. Arrival and departure are independent; a packet that
    finds the buffer full is lost, and none leaves an empty one. A slow slot earns a reward of
    :math:`1-\gamma`, and a slot that begins with packets in the buffer as much utility, so that
    values are discounted shares of time.

    Parameters
    ----------
    buffer : int
        Number of states, from 2 to 4096.
    fast, slow, leaving : float
        Probabilities of an arrival under each service, and of a departure, in [0, 1].
    at_most : float
        Largest discounted share of time with an empty buffer: the threshold is 1 - `at_most`.
    discount : float
        :math:`\gamma` in [0, 1).

    Returns
    -------
    CMDP

    Raises
    ------
    ValueError
        If an argument is out of range, or no policy exceeds the threshold; the message names it.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.media_streaming()
    >>> cmdp
    <CMDP: |S| = 20, |A| = 2, discount 0.95, threshold 0.9, values in [0, 1]>
    >>> pgpd_hf.solve(cmdp).multiplier > 0  # the constraint binds
    True
    """
    buffer = require_integer("buffer", buffer, 2, _MOST_STATES)
    shares = {"fast": fast, "slow": slow, "leaving": leaving, "at_most": at_most}
    fast, slow, leaving, at_most = (
        require_number(name, value, at_least=0, at_most=1) for name, value in shares.items()
    )
    discount = require_number("discount", discount)
    if not 0 <= discount < 1:
        raise ValueError(f"discount: 0 <= gamma < 1 expected, got {discount}")
    transition = np.zeros((buffer, 2, buffer))
    for state in range(buffer):
        for action, arriving in enumerate((slow, fast)):
            row = transition[state, action]
            row[min(state + 1, buffer - 1)] += arriving * (1 - leaving)
            row[max(state - 1, 0)] += (1 - arriving) * leaving
            row[state] += arriving * leaving + (1 - arriving) * (1 - leaving)
    step = 1 - discount
    cmdp = CMDP(
        transition=transition,
        reward=np.tile([step, 0.0], (buffer, 1)),
        utility=step * np.repeat(np.arange(buffer) > 0, 2).reshape(buffer, 2),
        initial=np.eye(buffer)[buffer // 2],
        discount=discount,
        threshold=1 - at_most,
        scale=step,
    )
    least = 1 - utility_range(cmdp)[1]
    if at_most <= least + 1e-12:
        raise ValueError(
            f"at_most: more than {least:.6g} expected, since no policy does better and learning "
            f"needs slack (Slater's condition); got {at_most}"
        )
    return cmdp


make = media_streaming
