"""Adapts Textual to slow lines: driver, output, changed cells, clipboard."""
