// The shell text that shims read, in POSIX sh: it starts a run and records the run's end whether or not the daemon lives. No value of a run is ever
// interpreted by the shell.

import type { Launch } from "../../contracts/processes.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Programs } from "./programs.ts";

/*
 * A shim is an `sh` that leads a session, reads commands from a pipe and runs one program at a time in its foreground, in that session. (In the background,
 * with `&`, sh makes the program ignore SIGINT.) Between the command and the exec there are only builtins and one fork. A helper program such as setsid(1)
 * would cost as much as a short run itself, and work after the fork costs double, because each memory page it touches is copied first.
 *
 * | step | process | file, in the run's folder                                                                                  |
 * |------|---------|------------------------------------------------------------------------------------------------------------|
 * | 1    | shim    | start: `1 <shim's pid> <its start time> <boot>`, `mark <mark>`. Created exclusively: a shim that finds it does nothing |
 * | 2    | program | stdout.log, stderr.log opened for appending; exec                                                          |
 * | 3    | shim    | exit: `1 <code>`. When the program could not be started: `1 program <code> <why>` (it does not exist or cannot be |
 * |      |         | executed), `1 folder …` (its cwd does not exist) or `1 launch …` (anything else)                           |
 *
 * The program's pid is not written down: the program is the shim's child and carries the mark.
 *
 * If the disk is full or read-only, the shim cannot write `exit` and retries every second, so that no end is lost. It stops retrying when the folder is gone.
 * After step 3 the shim writes a hint to the FIFO. `<>` opens the FIFO even if no daemon reads it, and the test `-p` avoids creating a plain file of that name.
 */

/**
 * Sent once to each shim; the shim's own output goes to /dev/null. `_P` and `_T` are its own pid and start time. Names begin with `_` because the program's
 * variables are set in the same shell later.
 */
export function prelude(programs: Programs, host: { boot: string; fifo: string; self: "proc" | "ps"; nice: number }): string {
	// sh reads byte by byte, and this text is long; but each shim reads it only once.
	const identity =
		host.self === "proc"
			? `read -r _P ${"_x ".repeat(20)}_T _x </proc/self/stat`
			: `_P=$$; _T=$(LC_ALL=C TZ=UTC ${programs.ps ?? "ps"} -o lstart= -p $$); _T=$(IFS=' '; set -- $_T; IFS=_; echo "$*")`;
	// Linux may share the processor out by sessions: then the niceness of a session counts, not that of its processes.
	const session = host.nice > 0 && host.self === "proc" ? `echo ${host.nice} >/proc/self/autogroup\n` : "";
	return `${programs.setsid ? "" : "set -m\n"}trap : INT TERM HUP QUIT
${session}_F=${quote(host.fifo)} _B=${quote(host.boot)}
${identity}
_say() { [ -p "$_F" ] && echo "$*" 1<>"$_F"; }
_held() { :; }
_begin() { set -C; command echo "1 $_P $_T $_B
mark $_m" >"$_d/start"; _x=$?; set +C; return $_x; }
_fail() { printf '1 %s\\n' "$*" >"$_d/exit"; exit 125; }
_enter() {
cd -- "$_c" 2>/dev/null || { [ -d "$_c" ] && _fail "launch 126 cannot enter cwd: $_c"; _fail "folder 126 no such cwd: $_c"; }
unset PWD OLDPWD SHLVL _
}
_file() {
[ -e "$1" ] || { printf %s "no such program: $1"; return; }
[ -d "$1" ] && { printf %s "a folder, not a program: $1"; return; }
[ -x "$1" ] || { printf %s "not executable: $1"; return; }
IFS=' 	' read -r _x _y 2>/dev/null <"$1"
case $_x in "#!") _x=$_y _y= ;; "#!"*) _x=\${_x#??} ;; *) return ;; esac
_x=\${_x%% *}
[ -x "$_x" ] || printf %s "no such interpreter: $_x (of $1)"
}
_why() {
cd -- "$_c"; _vars
case $1 in */*) _file "$1"; return ;; esac
set -f; IFS=:
for _y in \${PATH-/bin:/usr/bin}; do [ -f "\${_y:-.}/$1" ] && [ -x "\${_y:-.}/$1" ] && { _file "\${_y:-.}/$1"; return; }; done
printf %s "no such program in PATH: $1"
}
_put() { until printf '%s\\n' "$*" >"$_d/exit"; do [ -d "$_d" ] || return; sleep 1; done; }
_end() {
case $1 in
1|2) if [ -e "$_d/stderr.log" ]; then _put "1 $1"
elif [ -r "$_i" ]; then _put "1 launch 126 cannot write the logs in $_d"
else _put "1 launch 126 cannot read stdin: $_i"; fi ;;
125) [ -s "$_d/exit" ] || _put "1 $1" ;;
126|127) _x=$(_why "$2" 2>/dev/null)
if [ -n "$_x" ]; then _put "1 program $1 $_x"; else _put "1 $1"; fi ;;
*) _put "1 $1" ;;
esac
}
`;
}

/**
 * The text for one run, for a shim that has read the prelude. It is one compound command: if the daemon dies while writing it, the shim sees a syntax error
 * instead of half a run.
 */
export function runText(launch: Launch, programs: Programs, shim: string): string {
	const { run, dir, argv, cwd, stdin } = launch;
	const plain = [`SLUICE_MARK=${launch.mark}`];
	const odd: string[] = [];
	for (const [name, value] of Object.entries(launch.env)) {
		if (isPlain(name)) plain.push(`${name}=${quote(value)}`);
		else odd.push(`${name}=${value}`);
	}
	const words = odd.length > 0 ? [programs.env ?? "env", ...odd, ...argv] : argv;
	// Without setsid, job control is on: bash then drops the rest of a command whose foreground job died of SIGINT, while `&` does not make the program
	// ignore SIGINT.
	const after = programs.setsid ? "" : " & wait $!";
	// The redirections open their files after the fork and before `_vars` replaces the shim's variables by the run's. If opening fails, there is no
	// stderr.log, which `_end` checks.
	return `if _d=${quote(dir)} _r=${quote(run)} _m=${launch.mark} _c=${quote(cwd)} _i=${quote(stdin ?? "/dev/null")}; _held && _begin; then
_vars() { export ${plain.join(" ")}; }
(_enter; _vars; exec ${words.map(quote).join(" ")}) <"$_i" >>"$_d/stdout.log" 2>>"$_d/stderr.log"${after}
_end $? ${quote(argv[0] as string)} || exit
_say "exited $_r ${shim}"
else _say "idle $_r ${shim}"; fi
`;
}

/** For the launcher: starts a separate shim for a single run and does not wait for it. Needs `setsid -f`, since a background job would ignore SIGINT. */
export function launchText(shimText: string, programs: Programs, delimiter: string): string {
	return `${programs.setsid} -f ${programs.sh} <<'${delimiter}'\n${shimText}exit\n${delimiter}\n`;
}

export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Names that have a meaning for the shell, or that it cannot hold, are set by env(1). */
const SPECIAL =
	/^(?:OPT(?:IND|ARG|ERR)|LINENO|PPID|E?UID|IFS|SHELLOPTS|BASH.*|GROUPS|S?RANDOM|SECONDS|FUNC.*|DIRSTACK|HIST.*|EPOCH.*|MAIL.*|POSIXLY_CORRECT|_.?)$/;
const isPlain = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !SPECIAL.test(name);

/** The kernel's limit for one argument or variable, including its NUL. */
const MAX_STRING = 131_072;

/** Refuses values that could not be passed on unchanged, before anything is started. */
export function checkLaunch(launch: Launch): void {
	const bad = (field: string, why: string, hint?: string) => new SluiceError("invalid", `run ${launch.run}: ${why}`, { field, hint });
	if (!/^[\w.-]+$/.test(launch.run)) throw bad("run", "the name of a run has only letters, digits, dots and dashes");
	if (!/^[\w.-]+$/.test(launch.mark)) throw bad("mark", "a mark has only letters, digits, dots and dashes");
	for (const field of ["dir", "cwd", "stdin"] as const) {
		const path = launch[field];
		if (path !== undefined && (!path.startsWith("/") || path.includes("\0"))) throw bad(field, `${field} must be an absolute path`);
	}
	const [program] = launch.argv;
	if (!program) throw bad("argv", "no program to run");
	launch.argv.forEach((word, at) => {
		checkString(word, `argv[${at}]`);
	});
	for (const [name, value] of Object.entries(launch.env)) {
		if (name === "" || name.includes("=") || name.includes("\0")) throw bad("env", `not the name of a variable: ${JSON.stringify(name)}`);
		if (name === "SLUICE_MARK") throw bad("env.SLUICE_MARK", "SLUICE_MARK is set from the mark alone");
		checkString(`${name}=${value}`, `env.${name}`);
		if (program.includes("=") && !isPlain(name)) throw bad(`env.${name}`, "cannot be passed on to a program with = in its name");
	}

	function checkString(text: string, field: string) {
		if (text.includes("\0")) throw bad(field, "a NUL byte cannot be passed to a program");
		if (text.length * 3 >= MAX_STRING && Buffer.byteLength(text) >= MAX_STRING)
			throw bad(field, `longer than the ${MAX_STRING - 1} bytes that one argument or variable may have`, "pass it in a file or on stdin");
	}
}
