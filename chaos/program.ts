// What the jobs of a chaos round run: a shell script that writes its own proof of having begun, ended or been disturbed.

/**
 * proof.sh PROOFS NAME SECONDS FAILS LOCK
 *
 *   <run>.begin      made exclusively: a second begin of one attempt is a violation
 *   <run>.end        the attempt came to its own end
 *   <run>.signals    somebody signalled it; it goes on regardless, so that only SIGKILL ends it
 *   violations       anything that must never happen
 *
 * It leaves a child in a session of its own that would sleep for an hour: nobody but Sluice will end that one.
 */
export const PROGRAM = `#!/bin/sh
proofs=$1 name=$2 seconds=$3 fails=$4 lock=$5
run=$SLUICE_RUN_ID
trap 'echo "$name was signalled" >> "$proofs/$run.signals"' INT TERM HUP QUIT
(set -C; echo "$name $$" > "$proofs/$run.begin") 2>/dev/null || echo "$run ($name) began twice" >> "$proofs/violations"
if [ "$lock" != - ]; then mkdir "$proofs/lock-$lock" 2>/dev/null || echo "$run ($name) found lock $lock taken" >> "$proofs/violations"; fi
setsid sleep 3600 &
end=$(($(date +%s%N) / 1000000 + seconds))
while [ $(($(date +%s%N) / 1000000)) -lt $end ]; do sleep 0.02; done
if [ "$lock" != - ]; then rmdir "$proofs/lock-$lock" 2>/dev/null || echo "$run ($name) lost lock $lock" >> "$proofs/violations"; fi
echo "$name" > "$proofs/$run.end"
[ "$SLUICE_ATTEMPT" -gt "$fails" ]
`;
