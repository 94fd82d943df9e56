// The shell text of a lease watcher, in POSIX sh: a small process beside each shim of a host with a lease. It ends the host's runs when the lease is nearly over
// and the guard (../lease-guard.ts) has not done it, because the guard was killed together with the daemon.

import { LEASE_NOTE } from "../../core/fleet.ts";
import { FOLDERS, type Programs } from "./programs.ts";
import { ALL_WITH_ENVIRONMENT } from "./ps.ts";
import { quote } from "./shim.ts";

/*
 *   time by the machine's uptime   the guard                     a watcher
 *   until − margin                 notes and sends SIGTERM
 *   until − 3/4 margin                                           notes and sends SIGTERM to runs without a note
 *   until − 1/2 margin             sends SIGKILL
 *   until − 1/4 margin                                           sends SIGKILL until nothing is left
 *
 * Each watcher ends all runs of its home, like the guard. It lives in a session of its own, so that no signal to a run's process group reaches it. It is not the
 * shim's child, because a shim's only child is its program. It needs nothing of Sluice's installation, which may be replaced meanwhile; its working folder is the
 * home, which may be moved; and its command line does not name Sluice, so that `pkill -f sluice` leaves it.
 *
 *   its shim                       the watcher
 *   exits while the daemon lives   is ended by the shim, except while it ends runs
 *   exits after the daemon         stays until nothing carries a mark of this home, or another daemon has the lease: that daemon clears what a run has left
 *   is killed                      the same
 *
 * It sleeps until it has something to do, but a margin at most. sleep(1) does not count the time for which the machine is suspended, and `stale_after` may become
 * shorter: a lease is at least four margins long, so each is read in time. All numbers are hundredths of a second, because sh has no fractions.
 */
const watcherText = (self: "proc" | "ps"): string => `set -C
umask 077
trap '' HUP INT QUIT
unset LEASE_WATCHER
PATH=${FOLDERS.join(":")}:/usr/sbin
cd -- "\${file%/*}" || exit
lease=\${file##*/} first= id= until= margin=100
hundredths() {
case $1 in ''|.*|*[!0-9.]*|*.*.*) return 1 ;; esac
f=\${1#"\${1%%.*}"}; f=\${f#.}00
n=$((\${1%%.*} * 100 + 1\${f%"\${f#??}"} - 100))
}
field() { f=\${line#*"\\"$1\\":"}; hundredths "\${f%%[,\\}]*}"; }
${CLOCK[self]}
${MARKED[self]}
end() {
marked | {
noted= found=
while read -r run pid; do
found=yes note=runs/\${run%.*}/\${run#*.}/lease
[ -e "$note" ] || { echo ${quote(LEASE_NOTE)} >"$note" && noted="$noted $run "; }
case $1$noted in
KILL*) kill -KILL "$pid" ;;
*" $run "*) kill -TERM "$pid"; kill -CONT "$pid" ;;
esac
done
[ "$found" ]
}
}
while kill -0 "$shim" || { [ "$id" = "$first" ] && [ "$(marked)" ]; }; do
line=; read -r line <"$lease"
if field until && u=$n && field margin; then
until=$u margin=$n
id=\${line#*'"id":"'}; id=\${id%%'"'*}
first=\${first:-$id}
fi
wait=$margin
if [ "$until" ] && clock; then
left=$((until - n))
if [ $((left * 4)) -gt $((margin * 3)) ]; then
trap - TERM
wait=$((left - margin * 3 / 4))
else
trap '' TERM
if [ $((left * 4)) -gt "$margin" ]; then end TERM; wait=$((left - margin / 4))
elif end KILL; then wait=$((margin / 16)); fi
fi
fi
[ "$wait" -lt "$margin" ] || wait=$margin
[ "$wait" -gt 5 ] || wait=5
f=$((wait % 100)); [ "$f" -gt 9 ] || f=0$f
sleep "$((wait / 100)).$f" || sleep 1
done
`;

/** `clock` sets `n` to the uptime, as os.uptime() of Node gives it to the daemon that writes the lease. */
const CLOCK = {
	proc: 'clock() { read -r f _ </proc/uptime && hundredths "$f"; }',
	ps: `clock() { f=$(sysctl -n kern.boottime); f=\${f#*sec = }; hundredths "$(($(date +%s) - \${f%%,*}))"; }`,
};

/** `marked` prints a line for each process with a mark of this home: its run and its pid. */
const MARKED = {
	// tail prints the name of each file before its content, so one pass over all processes needs three programs.
	proc: `marked() {
tail -c +1 /proc/[0-9]*/environ | tr '\\000' '\\012' | sed -n \\
-e '/^==> \\/proc\\/\\([0-9]*\\)\\/environ <==$/{s//\\1/;h;d;}' \\
-e "/^SLUICE_MARK=$prefix\\([0-9][0-9]*\\.[0-9][0-9]*\\)$/{s//\\1/;G;s/\\n/ /;p;}"
}`,
	ps: `marked() {
LC_ALL=C ps ${ALL_WITH_ENVIRONMENT.join(" ")} -o pid=,command= |
sed -n "s/^ *\\([0-9]*\\) .* SLUICE_MARK=$prefix\\([0-9][0-9]*\\.[0-9][0-9]*\\)\\( .*\\)*$/\\2 \\1/p"
}`,
};

/**
 * `_held`: whether a run may still be started. The daemon has looked before it sent the run; but it may have been stopped in between, and its words may arrive when
 * other hosts have the run. In whole seconds, because sh has no fractions; without a readable lease the daemon's word counts.
 */
export const held = (file: string): string => `_held() {
_x=; read -r _x <${quote(file)}
[ "$_x" ] || return 0
_y=\${_x#*'"until":'}; _y=\${_y%%[!0-9]*}
_x=\${_x#*'"margin":'}; _x=\${_x%%[!0-9]*}
[ "$_y" ] && [ "$_x" ] || return 0
read -r _z _x2 </proc/uptime
[ "\${_z%%.*}" -lt "$((_y - _x))" ]
}
`;

/** The file with the lease, which is in the home beside the folder `runs`, and how the marks of the home's runs begin. */
export type LeaseFile = { file: string; prefix: string };

/** The part of a shim's prelude that starts its watcher and ends it with the shim. The shim's pid is in `_P`. */
export function startWatcher(programs: Programs, self: "proc" | "ps", { file, prefix }: LeaseFile): string {
	const words = `${programs.sh} -c 'eval "$LEASE_WATCHER"' lease-watcher`;
	const apart = "</dev/null >/dev/null 2>&1 & echo $!";
	// Without setsid, a shell with job control gives the watcher a process group of its own.
	const start = programs.setsid ? `${programs.setsid} ${words} ${apart}` : `${programs.sh} -c 'set -m; "$@" ${apart}' - ${words}`;
	const text = `file=${quote(file)} prefix=${quote(prefix)}\n${watcherText(self)}`;
	// The second pid is for a watcher that has not called setsid yet.
	return `${self === "proc" ? held(file) : ""}_w=${quote(text)}
_W=$(LEASE_WATCHER="shim=$_P $_w" ${start})
trap 'kill -0 ${process.pid} && kill -TERM "-$_W" "$_W"' EXIT
`;
}
