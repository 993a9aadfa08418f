"""Other ways to write the same program, each complete in its own file.

A peer's function ``run(task, seeds, iterations, cores)`` returns an array of shape (seeds, 5): of
the last iterate the exact reward value, the exact utility value and the multiplier, and over all
iterates the means of both values.
"""
