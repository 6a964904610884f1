-- purpose: racwire reads the name and the version of the connected instance, and the user of the session.
-- reads: V$INSTANCE
-- grants: SYS.V_$INSTANCE
-- licence: none
-- versions: 11.2-
SELECT me.instance_number,
       me.instance_name,
       me.version,
       SYS_CONTEXT('USERENV', 'SESSION_USER') AS logged_in_as
  FROM v$instance me
