"""`racwire change`: the options of its commands, and one file for each group of commands."""
