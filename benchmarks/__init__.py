"""Measurements against a baseline in the same run."""
