"""The engine over a cluster: Ray's real processes on this machine, GPUs by name only."""
