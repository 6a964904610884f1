"""Many clusters by their saved files, as they were judged when they were written; nothing is judged again."""
