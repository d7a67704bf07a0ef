"""A lender's score card: gradient-boosted stumps, kept as a table, run by numpy alone."""
