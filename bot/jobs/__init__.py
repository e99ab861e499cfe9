"""A job's life: validate, queue, follow, fetch, deliver."""
