"""Names that the runner and its nodes share with Ray."""

PREFIX = "gpu_"
"""A node's custom resource of GPUs is called this and the name as competitions write it."""
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
"""Environment in which Ray tells its makers nothing."""
