"""Cases of runs, and the time and memory that they take."""
