"""Studies: their configuration and readings, what is run for them, and the jobs that run it."""
