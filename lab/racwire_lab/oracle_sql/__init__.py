"""The practice database's SQL: Oracle statements, run by DuckDB on tables made from the living instances.

Nothing outside this package needs duckdb or sqlglot (extra `lab`); what starts racwire does not import it.
"""
