// What the jobs of a fleet's round run: a shell script that proves by files and by the kernel's locks on them who ran beside whom.

/**
 * proof.sh PROOFS NAME SECONDS FAILS LANE LANE_MAX EXCLUSIVE SHARED DEAF    (HOST_MAX, ALL_MAX and DEAF_… in the environment would be a host's own)
 *
 *   log           one line for each begin and end, appended: the order of the lines is the order of what happened, whatever clocks say
 *   <run>.begin   made exclusively: a second begin of one attempt is a violation
 *   slots/, keys/ files that a run has locked (flock) while any process of it lives: the kernel lets go of them, however it dies
 *   violations    anything that must never happen: no slot free, a key taken
 *
 * Slots are taken under one lock: then no free slot means that all were taken at once. Its child in a session of its own would sleep for an hour, and
 * holds none of them: that one is swept after the run's end.
 */
export const PROGRAM = `#!/bin/sh
proofs=$1 name=$2 seconds=$3 fails=$4 lane=$5 lane_max=$6 exclusive=$7 shared=$8 deaf=$9
run=$SLUICE_RUN_ID host=\${SLUICE_HOME##*/}
tell() { echo "$1 $run $host $$ $(date +%s%N) $name" >> "$proofs/log"; }
violation() { echo "$host $(date +%s%N) $run ($name) $1 | $(echo $2)" >> "$proofs/violations"; }
slot() {
	n=0
	while [ $n -lt "$3" ]; do
		eval "exec $1>>'$proofs/slots/$2.$n'"
		if flock -n "$1"; then echo "$run@$host" >> "$proofs/slots/$2.$n"; return; fi
		n=$((n + 1))
	done
	eval "exec $1>&-"
	violation "found all $3 slots of $2 taken" "$(tail -qn 1 "$proofs/slots/$2".*)"
}
key() {
	eval "exec $1>>'$proofs/keys/$2'"
	flock "$3" -n "$1" || violation "found $2 taken ($3)" "$(tail -n 40 "$proofs/keys/$2")"
	echo "$run@$host" >> "$proofs/keys/$2"
}
if [ "$deaf" = deaf ]; then trap '' TERM INT HUP QUIT; else trap 'tell signalled; exit 143' TERM INT HUP QUIT; fi
(set -C; : > "$proofs/$run.begin") 2>/dev/null || violation "began twice" ""
exec 5>>"$proofs/census"
flock -w 5 5 || violation "could not count" "census"
slot 6 all "$FLEET_ALL"
slot 7 "host-$host" "$FLEET_HOST"
[ "$lane_max" = - ] || slot 8 "lane-$lane" "$lane_max"
key 9 "job-\${run%.*}" -x
[ "$exclusive" = - ] || key 3 "$exclusive" -x
[ "$shared" = - ] || key 4 "$shared" -s
tell begin
exec 5>&-
setsid sleep 3600 3>&- 4>&- 6>&- 7>&- 8>&- 9>&- &
sleep "$seconds" &
wait $!
tell end
[ "$SLUICE_ATTEMPT" -gt "$fails" ]
`;
