"""Tables in and out: ratings, judgments, the pairs as they were drawn, and what travels with them."""
