"""Kernels and counters to a table, and a finished job to the messages of its reply."""
