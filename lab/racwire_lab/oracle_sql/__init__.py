"""The practice database's SQL: Oracle statements, run by DuckDB on tables made from the running instances.

Only this package needs duckdb or sqlglot (extra `lab`); the modules that start racwire do not import it.
"""
