"""The Paths screen."""
