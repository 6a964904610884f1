"""What the instances say: the database is asked through python-oracledb, reading only."""
