"""The built-in checks, one file each."""
