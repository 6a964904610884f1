-- purpose: racwire reads the histogram of the waits for blocks since the start of each instance, in microseconds.
-- reads: GV$EVENT_HISTOGRAM_MICRO
-- grants: SYS.GV_$EVENT_HISTOGRAM_MICRO, SYS.V_$EVENT_HISTOGRAM_MICRO
-- licence: none
-- versions: 12.1.0.2-
SELECT h.inst_id,
       h.event,
       h.wait_time_micro AS up_to_us,
       h.wait_count
  FROM gv$event_histogram_micro h
 WHERE h.event LIKE 'gc %'
