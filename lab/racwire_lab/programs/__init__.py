"""Programs that run inside the practice cluster. They are self-contained and import nothing of racwire."""
