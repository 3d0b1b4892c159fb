"""The commands: score, report, plan."""
