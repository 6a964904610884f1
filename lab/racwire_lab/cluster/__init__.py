"""The practice nodes, their networks and switches: built, broken, mended and taken down."""
