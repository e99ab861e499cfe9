"""What users see, asserted."""
