"""Speed of the package beside other ways to write the same program: ``python -m benchmarks``."""
