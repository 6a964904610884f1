-- purpose: racwire reads the bytes that each user of the interconnect has sent and received since the start of the
--     connected instance.
-- note: SYS alone reads X$KSXPCLIENT. The view is optional: a DBA creates it with the script of `racwire grants
--     --ic-clients`.
-- reads: RACWIRE_IC_CLIENTS
-- grants: SYS.RACWIRE_IC_CLIENTS
-- licence: none
-- versions: 11.2-
SELECT c.inst_id,
       c.name,
       c.bytes_sent,
       c.bytes_received
  FROM sys.racwire_ic_clients c
