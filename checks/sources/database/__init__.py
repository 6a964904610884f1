"""Query the database through python-oracledb, with read-only sessions."""
