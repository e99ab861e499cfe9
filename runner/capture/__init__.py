"""One capture: ncu command, export, evidence, and what it comes to."""
