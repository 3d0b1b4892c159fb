"""How far ratings and judgments can be relied upon: agreement, where they vary, and what any system could explain."""
