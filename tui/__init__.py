"""The terminal, full screen and headless: the only importer of textual and rich."""
