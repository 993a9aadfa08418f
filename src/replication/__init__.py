"""Replication of Liu, Kline and Wei (arXiv 2604.19024): studies, analyses, verdicts and theory."""

from pgpd_hf.core.extras import lacking

if _lack := lacking("workflow", "IPython", "jsonschema", "psutil", "pyarrow", "rocrate", "yaml"):
    raise ImportError(f"replication: {_lack}")
