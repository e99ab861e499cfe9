"""Pictures of a capture, drawn by a process of their own: time, roofline, stalls."""
