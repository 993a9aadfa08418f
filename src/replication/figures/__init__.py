"""Figures, in one style."""

FORMATS = ("pdf", "svg", "png")
