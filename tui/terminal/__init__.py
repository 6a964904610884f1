"""What makes Textual fit for slow lines: driver, output, changed cells, clipboard."""
