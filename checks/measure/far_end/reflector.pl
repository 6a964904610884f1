# Answers one peer's datagrams and flows; sends nothing of its own accord, writes no file, ends with its stdin.
# Uses no module: the @INC of a Grid home is not to be trusted. Arguments: own address, peer, token in hex, most
# seconds, most bytes, most CPU seconds, name of its lock, and the bytes of memory for reassembly in use above which it
# ends, 0 for no limit.
my ($own, $peer, $token, $seconds, $budget, $cpu, $name, $room) = @ARGV;
$| = 1; $SIG{PIPE} = 'IGNORE';
$token = pack 'H*', $token;
my ($exe, $ts) = ('', "\0" x 16);
if (open my $f, '<', '/proc/self/exe') { sysread $f, $exe, 20 }
my %call = (62, 228, 183, 113, 21, 246, 22, 260);    # clock_gettime by the machine in the ELF header
my $call = length $exe == 20 ? $call{unpack 'x18 S', $exe} : 0;
sub now {
    return (unpack 'q2', $ts)[0] + (unpack 'q2', $ts)[1] / 1e9 if $call and syscall($call, 1, $ts) == 0;
    open my $u, '<', '/proc/uptime' or return time;
    return (split ' ', scalar <$u>)[0];
}
sub cpu { my @t = times; return $t[0] + $t[1] }
sub cpu_ns { open my $s, '<', '/proc/self/schedstat' or return cpu() * 1e9; return (split ' ', scalar <$s>)[0] }
sub address { return pack 'S n a4 x8', 2, $_[1], pack 'C4', split /\./, $_[0] }
my $lock; socket($lock, 1, 2, 0) and bind($lock, pack 'S a*', 1, "\0$name") or die "another measure runs\n";
socket(my $s, 2, 2, 17) or die "socket: $!\n";
setsockopt $s, 1, 8, pack 'i', 4 << 20; setsockopt $s, 1, 7, pack 'i', 4 << 20;
setsockopt $s, 0, 11, pack 'i', 1;    # IP_RECVERR: a full queue of this node is an error of sending
setsockopt $s, 1, 20, pack 'l! l!', 0, 20000;    # SO_RCVTIMEO: 20 ms
bind $s, address($own, 0) or die "bind $own: $!\n";
socket(my $l, 2, 1, 6) or die "socket: $!\n";
bind $l, address($own, 0) or die "bind $own: $!\n"; listen $l, 64;
my $port = (unpack 'S n', getsockname $s)[1];
my ($in, $bytes_in, $out, $bytes_out, $refused, $foreign) = (0) x 6;
my ($from, $start, $beat, $looked) = (pack('C4', split /\./, $peer), now(), now(), now());
my ($why, $streaming, %flow) = ('', 0);    # streaming: datagrams keep coming, so it waits for them without a select before each
sub memory {
    open my $m, '<', '/proc/net/sockstat' or return 0;
    while (<$m>) { return $1 if /^FRAG:.* memory (\d+)/ }
    return 0;
}
sub state_line {
    my ($drops, $inode) = (0, (stat $s)[1]);
    if (open my $u, '<', '/proc/net/udp') {
        while (<$u>) { my @w = split ' '; $drops = $w[-1] if @w > 9 and $w[9] eq $inode }
    }
    my @given = map { unpack 'i', getsockopt $s, 1, $_ } 8, 7;
    printf "racwire %s %d %d %d %d %d %d %d %.0f %d %d %d\n", $_[0], $in, $bytes_in, $out, $bytes_out, $refused, $foreign, $drops, cpu_ns(), memory(), @given;
}
sub answer { if (defined send $s, $_[0], 0x40, $_[1]) { $out++; $bytes_out += length $_[0] } else { $refused++ } }
# Takes what waits, and returns whether more may wait. over: no more is asked for, so a request brings nothing.
sub datagrams {
    my ($over, $until) = (@_, now() + 0.05);
    for my $turn (1 .. 64) {
        return 1 if $turn > 1 and now() > $until;
        my $who = recv $s, my $d, 70000, $streaming ? 0 : 0x40;
        if (!defined $who) {
            my $more = $! != 11;
            $streaming = 0;
            while ($turn == 1) { last unless defined recv $s, my $e, 1, 0x2040 }    # an ICMP error, which would wake this program for ever
            return $more;
        }
        if (substr($who, 4, 4) ne $from or length $d < 28 or substr($d, 8, 16) ne $token) { $foreign++; next }
        $in++; $bytes_in += length $d;
        my ($kind, $count) = unpack 'C x n', $d;
        if ($kind == 0) { answer($d, $who) }
        elsif ($kind == 1) { answer(substr($d, 0, 28), $who) }
        elsif ($kind == 3 and !$over) {
            my $size = unpack 'x24 N', $d;
            $size = 28 if $size < 28; $size = 65507 if $size > 65507;
            $count = 64 if $count > 64;
            for my $i (0 .. $count - 1) { answer(pack('C x n a4 a16 N', 4, $i, substr($d, 4, 4), $token, $size) . "\0" x ($size - 28), $who) }
        }
        $streaming = !%flow;
        return 0 if $bytes_in + $bytes_out > $budget;
    }
    return 1;
}
sub counted {
    $streaming = 0;
    my $until = now() + 0.5;
    1 while datagrams(1) and now() < $until;
    state_line('state');
}
sub flows {
    my ($h, $st) = @_;
    if ($st->{left} and $st->{send}) {
        my $n = send $h, "\0" x ($st->{left} < 262144 ? $st->{left} : 262144), 0x4040;
        return 1 unless defined $n;
        $bytes_out += $n; $st->{left} -= $n; $out++ unless $st->{left};
        return 1;
    }
    my $want = $st->{left} || 16 - length $st->{head};
    my $got = recv $h, my $d, $want < 262144 ? $want : 262144, 0x40;
    return 1 if !defined $got and $! == 11;
    return 0 if !defined $got or !length $d;
    if ($st->{left}) {
        $bytes_in += length $d; $st->{left} -= length $d;
    } else {
        $st->{head} .= $d;
        return 1 if length $st->{head} < 16;
        if (!$st->{known}) { $st->{known} = 1; my $is = $st->{head} eq $token; $st->{head} = ''; $foreign++ unless $is; return $is }
        my ($kind, $hi, $lo) = unpack 'C x7 N N', $st->{head};
        $st->{send} = $kind == 1; $st->{left} = $hi * 4294967296 + $lo;
        $st->{answer} = substr $st->{head}, 0, 8; $st->{head} = '';
    }
    if (!$st->{left} and !$st->{send}) { $in++; send $h, $st->{answer}, 0x4040 }
    return 1;
}
printf "racwire ready %d %d\n", $port, (unpack 'S n', getsockname $l)[1];
until ($why) {
    my ($r, $w) = ('', '');
    vec($r, 0, 1) = vec($r, fileno $s, 1) = vec($r, fileno $l, 1) = 1;
    for (values %flow) { if ($_->{left} and $_->{send}) { vec($w, fileno $_->{h}, 1) = 1 } else { vec($r, fileno $_->{h}, 1) = 1 } }
    my $k = select $r, $w, undef, $streaming ? 0 : 0.1;
    $r = $w = '' if $k < 0;
    my $at = now();
    if ($k > 0 and vec $r, 0, 1) {
        my $n = sysread STDIN, my $said, 4096;
        if (!$n) { $why = 'eof' } else { $beat = $at; $why = 'quit' if $said =~ /q/; counted() if $said =~ /s/ }
    }
    if ($room and $at - $looked > 0.1) { $looked = $at; $why ||= 'memory' if memory() > $room }
    datagrams(0) if !$why and ($streaming or $k > 0 and vec $r, fileno $s, 1);
    if ($k > 0 and vec $r, fileno $l, 1) {
        my $who = accept my $h, $l;
        if ($who and substr($who, 4, 4) eq $from and keys %flow < 64) { setsockopt $h, 6, 1, pack 'i', 1; $flow{fileno $h} = {h => $h, head => '', left => 0}; $streaming = 0 }
        else { $foreign++ }
    }
    for my $fd (keys %flow) {
        next unless vec $r, $fd, 1 or vec $w, $fd, 1;
        delete $flow{$fd} unless flows($flow{$fd}{h}, $flow{$fd});
    }
    $why ||= 'heartbeat' if $at - $beat > 0.8;
    $why ||= 'seconds' if $at - $start > $seconds;
    $why ||= 'bytes' if $bytes_in + $bytes_out > $budget;
    $why ||= 'cpu' if cpu() > $cpu;
}
state_line("done-$why");
