"""What columns mean: roles, ids, scales, missing values, wide and long form."""
