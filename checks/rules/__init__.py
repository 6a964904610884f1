"""Rules that judge a value by its thresholds and return a status. Only this package reads thresholds."""
