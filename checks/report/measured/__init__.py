"""The results of measurements and drills as sentences and tables, for every format and the screen."""
