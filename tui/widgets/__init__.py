"""The pieces that the screens are made of: each draws lines of text and repaints only those that changed."""
