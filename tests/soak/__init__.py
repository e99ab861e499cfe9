"""Long runs: the runner under load, killed again and again."""
