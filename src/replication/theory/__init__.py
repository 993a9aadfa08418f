"""The paper's statements: their bounds as numbers, checks of them, and pathwise certificates."""
