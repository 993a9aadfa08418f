"""What is run and tabled beside Figure 1."""
