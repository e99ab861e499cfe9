"""What people type and click, one module a feature."""
