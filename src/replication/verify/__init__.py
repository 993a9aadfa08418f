"""Verification: whether results are those of the committed reference.

`tables` lists what the reference holds and reads it from the results of a study; `checks` compares.
The command is `make verify`.
"""
