"""Runs of algorithms: traces, and the choice of step sizes by a race."""
