"""The commands inspect, try, calibrate join, score, report, judge check and plan."""
