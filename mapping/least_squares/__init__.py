"""Monotone mappings of least squared error: pool-adjacent-violators, its bootstrap average, programs in cvxpy."""
