"""`racwire change`: its options, and one file for what each group of its subcommands does."""
