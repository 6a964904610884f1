"""The comparison of two runs: the same load before and after a change, and which differences are more than noise."""
