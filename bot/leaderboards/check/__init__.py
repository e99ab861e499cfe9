"""The evaluator contract, checked from a problem's source without running any of it."""
