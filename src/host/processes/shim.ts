// What the shims are told, in POSIX sh: how a run starts, and how its end is recorded whether or not we live. No value of a run is ever interpreted.

import { SluiceError } from "../../core/errors.ts";
import type { Launch } from "../../processes.ts";
import type { Programs } from "./programs.ts";

/*
 * A shim is an `sh` that leads a session, reads commands from a pipe and runs one program at a time in its foreground, in that session. (In the background,
 * with `&`, sh makes the program ignore SIGINT.) Nothing but builtins and one fork stands between the command and the exec: one program more, such as
 * setsid(1), would cost as much as a short run itself, and what is done after the fork costs twice, since each page that it touches is copied first.
 *
 * | step | who     | file, in the run's folder                                                                                  |
 * |------|---------|------------------------------------------------------------------------------------------------------------|
 * | 1    | shim    | start: `1 <shim's pid> <its start time> <boot>`, `mark <mark>`; made exclusively; who cannot, does nothing |
 * | 2    | program | stdout.log, stderr.log opened for appending; exec                                                          |
 * | 3    | shim    | exit: `1 <code>`; when the program could not be started `1 program <code> <why>` (it is not there or cannot be    |
 * |      |         | executed), `1 folder …` (its cwd is not there) or `1 launch …` (anything else)                             |
 *
 * Which process the program is stands nowhere: it is the child of the shim, and carries the mark.
 *
 * A disk that is full or read-only refuses the line in `exit`: the shim waits for room, so that no end is lost; a folder that is gone lets it go.
 * News goes to the FIFO after 3; `<>` opens it whether or not anybody reads, and `-p` keeps us from making a file of that name.
 */

/** Said once to each shim, whose own output goes nowhere. `_P _T`: its own pid and start time. Names begin with `_` since the program's variables are set in the same shell, later. */
export function prelude(programs: Programs, host: { boot: string; fifo: string; self: "proc" | "ps" }): string {
	// sh reads byte by byte, and this line is long; but it is read once.
	const identity =
		host.self === "proc"
			? `read -r _P ${"_x ".repeat(20)}_T _x </proc/self/stat`
			: `_P=$$; _T=$(LC_ALL=C TZ=UTC ${programs.ps ?? "ps"} -o lstart= -p $$); _T=$(IFS=' '; set -- $_T; IFS=_; echo "$*")`;
	return `${programs.setsid ? "" : "set -m\n"}trap : INT TERM HUP QUIT
_F=${quote(host.fifo)} _B=${quote(host.boot)}
${identity}
_say() { [ -p "$_F" ] && echo "$*" 1<>"$_F"; }
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

/** One run, for a shim that has heard the prelude. One compound command: cut short by our death, it is a syntax error and not half a run. */
export function runText(launch: Launch, programs: Programs, shim: string): string {
	const { run, dir, argv, cwd, stdin } = launch;
	const plain = [`SLUICE_MARK=${launch.mark}`];
	const odd: string[] = [];
	for (const [name, value] of Object.entries(launch.env)) {
		if (isPlain(name)) plain.push(`${name}=${quote(value)}`);
		else odd.push(`${name}=${value}`);
	}
	const words = odd.length > 0 ? [programs.env ?? "env", ...odd, ...argv] : argv;
	// With job control (no setsid) bash drops the rest of a command whose foreground job died of SIGINT; and there, `&` leaves SIGINT alone.
	const after = programs.setsid ? "" : " & wait $!";
	// What is opened here is opened after the fork, before `_vars` makes the run's variables of ours. Where that fails there is no stderr.log: `_end` looks.
	return `if _d=${quote(dir)} _r=${quote(run)} _m=${launch.mark} _c=${quote(cwd)} _i=${quote(stdin ?? "/dev/null")}; _begin; then
_vars() { export ${plain.join(" ")}; }
(_enter; _vars; exec ${words.map(quote).join(" ")}) <"$_i" >>"$_d/stdout.log" 2>>"$_d/stderr.log"${after}
_end $? ${quote(argv[0] as string)} || exit
_say "exited $_r ${shim}"
else _say "idle $_r ${shim}"; fi
`;
}

/** For the launcher: a shim of its own for one run, started and let go. Needs `setsid -f`: a background job would ignore SIGINT. */
export function launchText(shimText: string, programs: Programs, delimiter: string): string {
	return `${programs.setsid} -f ${programs.sh} <<'${delimiter}'\n${shimText}exit\n${delimiter}\n`;
}

export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Names that mean something to a shell itself, or that it cannot hold, are set by env(1). */
const SPECIAL =
	/^(?:OPT(?:IND|ARG|ERR)|LINENO|PPID|E?UID|IFS|SHELLOPTS|BASH.*|GROUPS|S?RANDOM|SECONDS|FUNC.*|DIRSTACK|HIST.*|EPOCH.*|MAIL.*|POSIXLY_CORRECT|_.?)$/;
const isPlain = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !SPECIAL.test(name);

/** The kernel's bound for one argument or variable, with its NUL. */
const MAX_STRING = 131_072;

/** Refuses what could not be passed on unchanged, before anything is started. */
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
