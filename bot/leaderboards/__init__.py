"""Competition YAML and task.yml to typed problems, and their way into the database."""
