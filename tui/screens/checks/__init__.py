"""The Checks screen."""
