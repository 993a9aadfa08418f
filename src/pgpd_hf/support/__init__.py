"""Files, processes, clusters: what keeps promises about runs, and knows no science."""
