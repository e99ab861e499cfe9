"""What the operator sees: self check, findings, metrics, the machine."""
