"""Files, console, HTTP, compiled functions, errors and wording."""
