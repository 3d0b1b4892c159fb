"""Hash tables that are really searched: buckets, probes, time."""
