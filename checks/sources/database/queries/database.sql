-- purpose: racwire reads the name and the role of the database, and the container of the session.
-- reads: V$DATABASE
-- grants: SYS.V_$DATABASE
-- licence: none
-- versions: 12.1-
SELECT db.dbid,
       db.db_unique_name,
       db.database_role,
       db.open_mode,
       db.cdb,
       SYS_CONTEXT('USERENV', 'CON_NAME') AS container
  FROM v$database db
