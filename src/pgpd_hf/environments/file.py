"""An environment of one's own, from a NumPy archive."""

from pgpd_hf.core.cmdp import CMDP


def make(path):
    """Read an environment from a NumPy archive, as :meth:`pgpd_hf.CMDP.save` writes it.

    Parameters
    ----------
    path : path-like
        The archive, see :meth:`pgpd_hf.CMDP.load`.

    Returns
    -------
    CMDP

    Raises
    ------
    ValueError
        If the file is not such an archive; the message names the file.
    """
    return CMDP.load(path)
