"""Programs of their own that run inside the practice cluster; each stands alone and imports nothing of racwire."""
