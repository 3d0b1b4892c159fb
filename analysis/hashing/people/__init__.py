"""Hash codes and the literature's ground truths against people's judgments."""
