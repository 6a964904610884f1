"""The Report screen."""
