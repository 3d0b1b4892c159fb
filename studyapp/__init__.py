"""Ask people: choose pairs, serve the rating app, and run the whole way from pictures to a report."""
