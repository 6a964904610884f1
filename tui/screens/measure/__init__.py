"""The Measure screen."""
