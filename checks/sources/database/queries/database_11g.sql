-- purpose: Which database this is, and its role, before there were containers.
-- reads: V$DATABASE
-- grants: SYS.V_$DATABASE
-- licence: none
-- versions: 11.2-11.2
SELECT db.dbid,
       db.db_unique_name,
       db.database_role,
       db.open_mode
  FROM v$database db
