"""What has come in: progress, statistics, export."""
