"""The report as one HTML page that fetches nothing."""
