"""The Change screen."""
