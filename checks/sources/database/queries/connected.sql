-- purpose: Which instance answers, and as whom racwire is logged in.
-- reads: V$INSTANCE
-- grants: SYS.V_$INSTANCE
-- licence: none
-- versions: 11.2-
SELECT me.instance_number,
       me.instance_name,
       me.version,
       SYS_CONTEXT('USERENV', 'SESSION_USER') AS logged_in_as
  FROM v$instance me
