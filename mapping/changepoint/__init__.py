"""The Bayesian change-point fit: its model, its recursion, and the mapping made of them."""
