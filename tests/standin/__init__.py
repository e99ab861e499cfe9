"""Programs that stand in for ncu and nvcc, and a problem whose evaluator needs no GPU."""
