"""Writes the pages of `docs/` that are made from the source: `make docs` writes all of them."""
