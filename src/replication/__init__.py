"""Replication of Liu, Kline and Wei (arXiv 2604.19024): studies, analyses, verdicts and theory."""
