"""Put people on one scale: ratings in, judgments and rater profiles out.

The lowest of the stages: `mapping`, `analysis` and `studyapp` build on it, and it builds on `common` alone.
"""
