-- purpose: racwire reads the histogram of the waits for blocks since the start of each instance, in milliseconds.
-- note: Versions before 12.1.0.2 have no finer histogram.
-- reads: GV$EVENT_HISTOGRAM
-- grants: SYS.GV_$EVENT_HISTOGRAM, SYS.V_$EVENT_HISTOGRAM
-- licence: none
-- versions: 11.2-12.1.0.1
SELECT h.inst_id,
       h.event,
       h.wait_time_milli * 1000 AS up_to_us,
       h.wait_count
  FROM gv$event_histogram h
 WHERE h.event LIKE 'gc %'
