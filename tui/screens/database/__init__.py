"""The Database screen."""
