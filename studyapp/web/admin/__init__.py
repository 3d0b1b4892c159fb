"""The researcher's pages, a module for each tab; everything on them is a command as well."""
