"""The comparison of two runs: the same load before and after a change, and what of the difference is more than noise."""
