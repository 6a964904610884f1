"""The Traffic screen."""
