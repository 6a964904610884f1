-- purpose: racwire reads the restore points of a test database, before and after an experiment.
-- reads: V$RESTORE_POINT
-- grants: SYS.V_$RESTORE_POINT
-- licence: none
-- versions: 11.2-
SELECT rp.name,
       rp.guarantee_flashback_database,
       rp.storage_size
  FROM v$restore_point rp
