"""Oracle SQL run on DuckDB: the views, their translation, and the functions that DuckDB lacks."""
