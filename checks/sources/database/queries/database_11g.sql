-- purpose: racwire reads the name and the role of the database, which has no containers before version 12.1.
-- reads: V$DATABASE
-- grants: SYS.V_$DATABASE
-- licence: none
-- versions: 11.2-11.2
SELECT db.dbid,
       db.db_unique_name,
       db.database_role,
       db.open_mode
  FROM v$database db
