"""Replication of Liu, Kline and Wei (arXiv 2604.19024): studies, analyses, verdicts and theory."""

from pgpd_hf.core.extras import lacking

_lack = lacking(
    *("workflow", "IPython", "ipykernel", "jsonschema"),
    *("nbconvert", "psutil", "pyarrow", "rocrate", "yaml"),
)
if _lack:
    raise ImportError(f"replication: {_lack}")
