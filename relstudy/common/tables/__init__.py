"""Any table that a person has, as a checked table with known columns."""
