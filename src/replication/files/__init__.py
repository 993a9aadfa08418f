"""Everything around a run but its content: files, processes, clusters, provenance."""
