"""Programs that run as processes of their own, to be measured or to measure inside a namespace."""
