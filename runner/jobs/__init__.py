"""A job from the queue to its result, and what of it is on disk."""
