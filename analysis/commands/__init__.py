"""The commands inspect, try, join, score, report, judge check and plan."""
