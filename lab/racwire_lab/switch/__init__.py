"""The switches of the private networks as their operators see them: what `racwire lab switch show …` answers."""
