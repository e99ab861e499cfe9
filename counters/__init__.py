"""What a capture says: ncu-details.csv -> kernels, counters in base units, rules. Pure stdlib."""
