"""Find out whether people agree with a retrieval system."""
