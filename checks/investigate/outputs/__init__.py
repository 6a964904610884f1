"""What people paste, understood: one file a kind of output. Text in, `Pasted` out; nothing here raises on any text."""
