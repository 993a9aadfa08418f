"""An environment of one's own, from a NumPy archive, as :meth:`pgpd_hf.CMDP.save` writes it."""

from pgpd_hf.core.cmdp import CMDP

make = CMDP.load
