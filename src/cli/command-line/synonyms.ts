// Words of other tools (pueue, task-spooler, docker, git, systemd) and what to type instead. A word that only resembles a command also leads to a
// suggestion, but never to a command that ends or deletes more than the caller asked for.

import { nearest } from "../../core/input/nearest.ts";

/** What to type, and what it does if that is not obvious. */
type Advice = readonly [line: string, says?: string];

/** First word of a command line → advice. Every line is an existing command: a test parses each of them. */
export const SYNONYMS: Readonly<Record<string, Advice>> = {
	abort: ["sluice cancel ID"],
	browse: ["sluice open", "prints the dashboard's link"],
	callback: ["sluice config set notify '[{kind: command, command: [./told.sh]}]'", "runs a command at each notice"],
	cat: ["sluice logs ID"],
	clean: ["sluice gc", "deletes ended jobs; it cancels nothing"],
	continue: ["sluice resume"],
	create: ["sluice add -- COMMAND"],
	daemon: ["sluice up"],
	dashboard: ["sluice open", "prints the dashboard's link"],
	del: ["sluice cancel ID", "ends one job; sluice gc deletes ended ones"],
	delete: ["sluice cancel ID", "ends one job; sluice gc deletes ended ones"],
	deps: ["sluice graph"],
	describe: ["sluice show ID"],
	enqueue: ["sluice release ID", "ends the hold of a job; to add one: sluice add -- COMMAND"],
	env: ["sluice add --env NAME=VALUE -- COMMAND", "for all jobs: the setting env"],
	events: ["sluice history ID"],
	exec: ["sluice add -- COMMAND"],
	exit: ["sluice down", "stops the daemon; what runs goes on"],
	explain: ["sluice why ID"],
	follow: ["sluice logs ID -f"],
	get: ["sluice config get KEY", "a job: sluice show ID"],
	group: ["sluice lane list", "lanes are what other tools call groups"],
	groups: ["sluice lane list", "lanes are what other tools call groups"],
	info: ["sluice show ID"],
	inspect: ["sluice show ID"],
	jobs: ["sluice list"],
	kill: ["sluice cancel ID", "ends a job; another signal: sluice signal ID HUP"],
	log: ["sluice logs ID"],
	ls: ["sluice list"],
	move: ["sluice priority ID N"],
	new: ["sluice add -- COMMAND"],
	output: ["sluice logs ID"],
	parallel: ["sluice config set max_concurrent N", "for one lane: sluice lane set NAME --max N"],
	ps: ["sluice list"],
	purge: ["sluice gc", "deletes ended jobs; it cancels nothing"],
	queue: ["sluice list", "shows the queue; sluice add -- COMMAND adds to it"],
	quit: ["sluice down", "stops the daemon; what runs goes on"],
	remove: ["sluice cancel ID", "ends one job; sluice gc deletes ended ones"],
	requeue: ["sluice rerun ID"],
	reset: ["sluice gc", "deletes ended jobs; sluice cancel ID ends one that is open"],
	restart: ["sluice rerun ID", "runs a job again; for the daemon: sluice down, then sluice up --detach"],
	rm: ["sluice cancel ID", "ends one job; sluice gc deletes ended ones"],
	schedule: ["sluice add --at TIME -- COMMAND", "again and again: sluice cron add"],
	send: ["sluice answer ID TEXT", "answers what an agent asks; a run has no other input"],
	server: ["sluice up"],
	set: ["sluice config set KEY VALUE"],
	shutdown: ["sluice down", "stops the daemon; what runs goes on"],
	start: ["sluice resume", "ends a pause; sluice run-now ID takes one job first; sluice up starts the daemon"],
	stash: ["sluice hold ID", "starts when you say: sluice release ID; when you add it: sluice add --hold -- COMMAND"],
	stat: ["sluice status"],
	stop: ["sluice cancel ID", "stops one job; sluice pause starts nothing new; sluice down stops the daemon"],
	submit: ["sluice add -- COMMAND"],
	swap: ["sluice promote ID", "or sluice demote ID, sluice priority ID N"],
	switch: ["sluice promote ID", "or sluice demote ID, sluice priority ID N"],
	tail: ["sluice logs ID -f"],
	ui: ["sluice open", "prints the dashboard's link"],
	unpause: ["sluice resume"],
	view: ["sluice show ID"],
	watch: ["sluice status --watch"],
	web: ["sluice open", "prints the dashboard's link"],
};

/** Second words, after a noun: `lane ls`. Used if the noun has the verb. */
export const VERB_SYNONYMS: Readonly<Record<string, string>> = {
	create: "add",
	delete: "remove",
	describe: "show",
	edit: "set",
	get: "show",
	info: "show",
	inspect: "show",
	ls: "list",
	new: "add",
	rm: "remove",
	update: "set",
};

/** Commands that end work or delete something. */
const DESTRUCTIVE: ReadonlySet<string> = new Set([
	"cancel",
	"clear",
	"down",
	"gc",
	"migrate-store",
	"prune",
	"reject",
	"close",
	"remove",
	"retry",
]);

/** The known word that was probably meant. A destructive command is suggested only for a typing error: `cancle`, `cancl`, never `clean` for `clear`. */
export function meant(word: string, known: readonly string[]): string | undefined {
	return nearest(
		word,
		known.filter((one) => !DESTRUCTIVE.has(one) || isSlip(word, one)),
	);
}

/** Two neighbouring letters swapped, or one letter too many or too few. */
function isSlip(word: string, known: string): boolean {
	const without = (text: string, at: number) => text.slice(0, at) + text.slice(at + 1);
	const [short, long] = word.length < known.length ? [word, known] : [known, word];
	if (long.length === short.length + 1) return [...long].some((_, at) => without(long, at) === short);
	const apart = [...word].flatMap((letter, at) => (letter === known[at] ? [] : [at]));
	const [first = -1, second = -1] = apart;
	return (
		word.length === known.length &&
		apart.length === 2 &&
		second === first + 1 &&
		word[first] === known[second] &&
		word[second] === known[first]
	);
}

/** `did you mean: sluice gc (deletes ended jobs; it cancels nothing)` */
export function adviceFor(word: string): string | undefined {
	const advice = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
	return advice && `did you mean: ${advice[0]}${advice[1] ? ` (${advice[1]})` : ""}`;
}
