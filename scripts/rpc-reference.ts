// docs/reference/rpc.md as text, made from the list of methods: what is printed there cannot differ from what is served.

import type { Method } from "../src/api/fields.ts";
import { LIMITS, METHODS } from "../src/api/protocol.ts";
import { methodsThat, type RunMay } from "../src/api/run-methods.ts";
import type { Field } from "../src/core/schema/field.ts";

const INTRO = `# JSON-RPC

<!-- Made by scripts/generate-docs.ts from src/api/protocol.ts: change it there. -->

JSON-RPC 2.0 over two endpoints with the same methods:

- the home's socket \`sluice.sock\` ([where it is](../operating.md#the-socket)), one message a line. A program that may open the file is an admin, unless it [belongs to a run](#who-may-call-what);
- \`POST /rpc\` on 127.0.0.1 (port 7420 unless the configuration says otherwise), with \`Authorization: Bearer <token>\`. The home's files \`token\` and
  \`viewer-token\` hold the admin's and the viewer's.

Prefer the socket where you can: only the home's owner can listen on it. A port can belong to another program while the daemon is down, and a script that sends it the token hands over the home. Before you
send a token over HTTP, make sure that the daemon runs: \`sluice status --json\` names its port (\`http_port\`).

\`\`\`sh no-run: needs nc and curl, and the usual port
printf '%s\\n' '{"jsonrpc":"2.0","id":1,"method":"job.add","params":{"command":["make","test"]}}' | nc -U -N ~/.sluice/sluice.sock
curl -s -H "Authorization: Bearer $(cat ~/.sluice/token)" -d '{"jsonrpc":"2.0","id":1,"method":"scheduler.status"}' http://127.0.0.1:7420/rpc
\`\`\`

Parameters are one object. Results are the CLI's JSON documents: snake_case, \`schema_version\` first, times in RFC 3339, null where there is nothing, secrets
masked (setting \`secrets\`): in \`env\` and \`vars\` by the names of variables, in addresses; for viewers in \`payload\` and \`result\`, too, by their keys. Commands, prompts and titles are shown as they are. Where a job is named, its number, its number as text and its name are taken alike. Batches and notifications are as the
standard has them; over HTTP a notification is answered with 204. Optional parameters may be left out or null.

A \`payload\`, of a job or of a kernel entry, is opaque: it comes back as it was sent, without the spaces between its parts. Numbers of any size, the order of keys and every character are
kept. At most 1,000,000 characters of JSON, 1,000 levels deep.

A request may say which protocol its caller speaks, with \`"protocol": 1\` beside \`method\`: a daemon of another one refuses it with \`conflict\` before anything
is done, whatever it asks but \`scheduler.version\`, \`scheduler.down\` and \`session.auth\`.

Limits: ${LIMITS.line.toLocaleString("en")} bytes a line or body, ${LIMITS.batch} requests a batch, ${LIMITS.nesting} levels of nesting. A call that waits for
something waits ${LIMITS.wait_ms / 1000} s at most: ask again.

## Who may call what

| role | who | may |
|---|---|---|
| viewer | \`viewer-token\`, a page with a viewer's link, a person who is viewer | read |
| run | the token that a run finds in SLUICE_TOKEN, while it runs; on the socket also a process of the run without it | read, wait, add: [what a run may do](#what-a-run-may-do) |
| operator | a person who is operator, a page with an operator's link | act on jobs: add, cancel, approve, answer, pause |
| admin | the socket outside of runs, \`token\`, a page with an admin's link, a person who is admin | everything: also settings, trust, people and the daemon itself |

A run says who it is with the bearer header, or on the socket with \`session.auth\`. On the socket an admin may say who acts, with \`by\` in any method's
parameters; it is recorded in the events. Over HTTP the record says \`token\`, for a page \`page\`, for a run \`run:7.1\`.

A client on the socket may say which process it is, with \`"process": {"pid": 4711, "start": "189204"}\` beside \`method\` (\`start\`: field 22 of \`/proc/self/stat\`; left out where there is no \`/proc\`). If that
process or one above it belongs to a live run, the connection has the role run, without a token; if that run is over, the role viewer. The first call that says it decides for the connection. The
clients of Sluice say it with every call; a client that does not is an admin.

\`POST /sign-in\` with \`Authorization: Bearer <code>\` exchanges a code of [\`session.code\`](#sessioncode) for a page token, \`{schema_version, token, role}\`, which is then a bearer token like the others. It ends with the
daemon, or after 12 hours without use. The code in a link of [\`people.add\`](#peopleadd) is exchanged in the same way, once, for a person's token, \`{schema_version, token, role, name}\`: it counts for 90 days, on every host of a
fleet and after restarts, until the person is removed or \`POST /sign-out\` ends it. A person's role is looked up for every call.

HTTP refuses with 403 a Host or Origin that is not its own, with 401 a missing or wrong token, with 413 a body that is too long. \`error.code\` of a 401 is \`restarted\` for a page token of an earlier
daemon, \`signed_out\` for one that was not used for too long, else \`unauthorised\`. After ten wrong tokens or codes in a minute, further wrong ones get 429 with \`Retry-After\`; all loopback addresses count
together. A right token is always taken. The log gets one line a minute for all that were refused.

Connections that have not shown a valid token yet: at most 64 at once (an eighth of the files that the daemon may open, where that is less). A new one beyond that closes the oldest of them, and one that does not
send its headers within five seconds is closed. All HTTP connections together take at most half of those files.

## What a run may do

${runTable()}

Another method is refused with \`unauthorised\`. What is added is below the run's own job, and has no more than that: [what a run may add](../agents.md#what-a-run-may-do).
A request for more is refused with \`forbidden\`; a field that is not named is filled in with the run's own.

## Errors

\`{code, message, data: {code, field?, hint?, also?}}\`, where \`also\` has further mistakes in the same input, each with \`message\`, \`field?\` and \`hint?\`; \`data.code\` is one of [these words](errors.md), \`unauthorised\`, \`unknown_method\`, \`parse\`, \`request\` or
\`internal\`.

| number | meaning |
|---|---|
| −32700 | not JSON |
| −32600 | no request, or one beyond the limits |
| −32601 | no such method |
| −32602 | \`invalid\`, \`unknown_key\`, \`cycle\`, \`impossible\`, \`limit\`, \`forbidden\` |
| −32603 | a fault in Sluice; the daemon's log has it |
| −32003 | not for this role |
| −32004 | \`not_found\` |
| −32009 | \`conflict\`, \`illegal_transition\`, \`fenced\` |
| −32010 | \`store\`, \`closed\` |
| −32131 | kernel: illegal transition |
| −32132 | kernel: no such entry |
| −32133 | kernel: a parameter is wrong; an unknown or dead agent |
| −32134 | kernel: admission denied (not in use) |
| −32135 | kernel: no such state to filter by |

## Events

\`GET /events\` is a stream of server-sent events: \`id\` is the sequence number, \`event\` the [kind](events.md), \`data\` the event as JSON. Without a number it
begins now; \`?since=N\` or the header \`Last-Event-ID\` begins after event N. An event \`gap\` with \`{from, to}\` stands for events that are gone. A comment every
15 seconds shows that the line is alive. Who does not read for a minute is cut off, and comes back where it was. Frames of kind [\`progress\`](events.md#progress) say what live runs are
doing; they have no \`id\`.

[\`GET /metrics\`](metrics.md) is Prometheus text; \`GET /health\` answers \`{"ok": true, "version": …}\` and needs no token.
`;

const TITLES: Record<string, string> = {
	job: "Jobs",
	scheduler: "The queue and the daemon",
	session: "The connection",
	lane: "Lanes",
	account: "Accounts",
	budget: "Budgets",
	lock: "Locks",
	artifact: "Artifacts",
	host: "Hosts",
	batch: "Batches",
	people: "People",
	audit: "The record of calls",
	config: "Configuration",
	doctor: "Check-up",
	kernel: "Kernel",
};

const OPEN: Partial<Record<Method["check"], string>> = {
	job: "Besides these: every field of a job's input, as `add` of the [library](library.md) takes it.",
};

const cell = (text: string) => text.replaceAll("|", "\\|");

function typeOf(field: Field): string {
	const bounds = field.kind === "whole" && (field.max ?? 0) < 1e15 && (field.min ?? 0) > -1e15 ? ` ${field.min} … ${field.max}` : "";
	const names: Record<Field["kind"], string> = {
		id: "job",
		ids: "list of jobs",
		word: "text",
		words: "list of text",
		text: "text",
		flag: "true or false",
		whole: `whole number${bounds}`,
		number: "number",
		time: "time",
		duration: "duration",
		choice: (field.options ?? []).map((one) => `\`${one}\``).join(", "),
		choices: `list of ${(field.options ?? []).map((one) => `\`${one}\``).join(", ")}`,
		list: "list",
		json: "JSON",
		object: "object",
	};
	return names[field.kind] + (field.nullable ? " or null" : "");
}

function section(name: string, { role, acts, about, params, result, check }: Method): string {
	const rows = Object.entries(params).map(
		([key, field]) => `| \`${key}\`${field.needed ? "" : "?"} | ${cell(typeOf(field))} | ${cell(field.about)} |`,
	);
	const table = rows.length > 0 ? ["", "| parameter | type | meaning |", "|---|---|---|", ...rows] : [];
	const more = OPEN[check] === undefined ? [] : ["", OPEN[check]];
	return [
		`### \`${name}\``,
		"",
		`${about} *${acts === undefined ? role : `${role}; to act: ${acts}`}*`,
		...table,
		...more,
		"",
		`→ \`${result}\``,
		"",
	].join("\n");
}

export function rpcReference(): string {
	const nouns = [...new Set(Object.keys(METHODS).map((name) => name.slice(0, name.indexOf("."))))];
	const parts = nouns.map((noun) => {
		const own = Object.entries(METHODS).filter(([name]) => name.startsWith(`${noun}.`));
		return [`## ${TITLES[noun] ?? noun}`, "", ...own.map(([name, method]) => section(name, method))].join("\n");
	});
	return `${[INTRO, ...parts].join("\n").trimEnd()}\n`;
}

/** By the table that the tests prove. */
function runTable(): string {
	const names = (may: RunMay) =>
		methodsThat(may)
			.map((name) => `\`${name}\``)
			.join(", ");
	return [
		"| a run's token | methods |",
		"|---|---|",
		`| adds below its own job | ${names("adds")} |`,
		`| acts on its own job and connection alone | ${names("itself")} |`,
		`| reads; the part that acts is refused | ${names("reads")} |`,
	].join("\n");
}
