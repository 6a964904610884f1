-- purpose: racwire reads the size of the recovery area of a test database, and what is used, before an experiment.
-- reads: V$DATABASE, V$RECOVERY_FILE_DEST
-- grants: SYS.V_$DATABASE, SYS.V_$RECOVERY_FILE_DEST
-- licence: none
-- versions: 11.2-
-- note: V$RECOVERY_FILE_DEST can have no row where the database has no recovery area.
SELECT db.log_mode,
       rd.name,
       rd.space_limit,
       rd.space_used,
       rd.space_reclaimable
  FROM v$database db
  LEFT JOIN v$recovery_file_dest rd ON 1 = 1
