"""The rating app: Flask is imported here and nowhere below."""
