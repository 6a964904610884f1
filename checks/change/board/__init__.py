"""The report of a change, as data for HTML and Markdown."""
