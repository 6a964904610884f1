"""The commands that racwire may start, as synopses: what is not here is refused, wherever it comes from.

A line is one form of one command; `forms.py` reads them. Words stand for themselves, and

    [a|b]  (a|b)  x...    as in a manual: optional, one of these, one or more times
    -<abc>                one word of these one-letter options: -a, -cb
    NUMBER                digits, perhaps with a point
    FEW                   a whole number up to 100: how much is sent is bounded
    INTERVAL              seconds, 0.2 at the least: no flood
    WORD                  one word that is surely no option
    VALUE                 one word, also one that is not known before it runs, but quoted: "$uuid"
    NAME                  a shell variable in small letters
    FORMAT                one word that begins with +
    DIRECTORY             one absolute path
    FILE...               words that are surely no options; a pattern such as /etc/ifcfg-* counts as what it begins with
    SED                   a sed script that prints or substitutes, and neither writes a file nor runs anything
    ANY                   any words or none: only for commands in which no word can change or start anything
    COMMAND               the rest of the words, a command that is itself judged by this list

To add a command: read its manual for what writes, starts or sends something, also in options that may follow operands,
and write the forms that cannot. Where in doubt leave it out: a form that is too narrow is an error that is seen.
"""

SYSTEM_DIRECTORIES = ("/bin", "/sbin", "/usr/bin", "/usr/sbin")
"""Where commands of SYSTEM may be called by path; by name they are found by the PATH of the held shells, the same."""

_PING = "[-n|-q|-4|-6|-s NUMBER|-M (do|dont|want|probe)|-i INTERVAL|-l FEW|-W NUMBER|-w NUMBER|-I WORD]..."
SYSTEM = f"""
env [(LC_ALL=C|LANG=C|NLS_LANG=AMERICAN_AMERICA)]... COMMAND
timeout [-s (INT|TERM|KILL)|-k NUMBER]... NUMBER COMMAND
(ping|ping6) {_PING} -c FEW {_PING} WORD
"""
"""What comes with Linux."""

GRID = """
crsctl check (crs|has|css|evm|ctss|cluster [-all])
crsctl query crs (activeversion [-f]|releaseversion|softwareversion [WORD|-all]|releasepatch|softwarepatch [WORD])
crsctl query has (releaseversion|softwareversion)
crsctl query css votedisk
crsctl get (css WORD|cluster (name|mode status|class|type)|nodename|hostname)
crsctl config (crs|has)
crsctl (stat|status) (res|resource|server|serverpool|type) [WORD|-t|-v|-p|-f|-init|-w WORD|-n WORD]...
oifcfg getif [-global|-node WORD|-if WORD|-type WORD]...
oifcfg iflist [-p|-n]...
olsnodes [-<nistlpca>]...
ocrconfig [-local] -showbackup [auto|manual]
srvctl (config|status) (asm|database|home|instance|listener|network|nodeapps|scan|scan_listener|service|vip|cvu)\
 [-a|-v|-verbose|-S NUMBER|(-d|-db|-database|-i|-instance|-n|-node|-s|-service|-l|-listener) VALUE]...
"""
"""What is in the `bin` of a Grid home. Called by an absolute path only: a database home may hold tools of that name."""
