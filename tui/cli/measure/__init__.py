"""`racwire measure`: a measurement that sends load, after the cluster's name was typed."""
