"""The error rate that all statistical tests share.

Seeds are fixed, so a test that passes always passes. That a correct program had failed under seeds
chosen blindly has a probability below 1e-6: a thousand comparisons, each at the level `LEVEL`.
"""

LEVEL = 1e-6 / 1000
