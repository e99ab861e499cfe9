"""A result's way to its author: address, ways, and the courier that takes them in turn."""
