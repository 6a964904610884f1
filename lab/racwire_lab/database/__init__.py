"""The practice database: a server on each node that speaks Oracle Net and runs the SQL that clients send."""
