-- purpose: racwire reads the storage servers of Direct NFS, whose connections it compares with the MTU of the interfaces.
-- reads: GV$DNFS_SERVERS
-- grants: SYS.GV_$DNFS_SERVERS, SYS.V_$DNFS_SERVERS
-- licence: none
-- versions: 11.2-
-- note: V$DNFS_CHANNELS is not read: each query of it sets the counters to zero that it shows (Database Reference:
--     "since the last select").
SELECT ds.inst_id,
       ds.svrname,
       ds.nfsport
  FROM gv$dnfs_servers ds
