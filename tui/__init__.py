"""The terminal, full screen and headless: the only importer of textual and rich."""

__version__ = "0.1.0"
"""The version of racwire; the distribution takes its own from here."""
