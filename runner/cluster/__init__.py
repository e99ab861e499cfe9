"""The engine over a Ray cluster: the same jobs and queue, the programs on many machines."""
