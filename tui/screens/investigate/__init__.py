"""The page of guided troubleshooting."""
