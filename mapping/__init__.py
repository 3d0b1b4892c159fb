"""Put systems on people's scale: monotone maps from system scores to judgments."""
