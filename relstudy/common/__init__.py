"""Code that every stage uses: errors, tables, the console, figures, and estimates with their intervals."""
