// Hostile shapes: texts that would make a careless parser work for ever. One table for the counting test, the fuzz test and the bench.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what manifests write

import { readParams } from "../../src/api/params.ts";
import { METHODS } from "../../src/api/protocol.ts";
import { looksSecret, maskedDeep, SECRET_NAMES } from "../../src/api/secrets.ts";
import { createLogText } from "../../src/cli/printing/log-text.ts";
import { printable, splitKeys, tame } from "../../src/cli/printing/sequences.ts";
import { worktreesIn } from "../../src/contracts/git.ts";
import { callsInTranscript } from "../../src/core/agents/adapters/claude-transcript.ts";
import { deniedInRollout, resetInRollout, usedInRollout } from "../../src/core/agents/adapters/codex-rollout.ts";
import { parseDotenv } from "../../src/core/agents/adapters/gemini-env.ts";
import { usedInGeminiRecords } from "../../src/core/agents/adapters/gemini-record.ts";
import { closingWords } from "../../src/core/agents/closing.ts";
import { judge } from "../../src/core/agents/judge.ts";
import { createWatch } from "../../src/core/agents/own/outcomes.ts";
import { FORMATS, type Format } from "../../src/core/agents/profile.ts";
import { NOTHING } from "../../src/core/agents/stream/happening.ts";
import { createReader } from "../../src/core/agents/stream/reading.ts";
import { createRenderer } from "../../src/core/agents/stream/render.ts";
import { waitsFor } from "../../src/core/agents/waiting.ts";
import { DEFAULTS } from "../../src/core/config.ts";
import { branchFault } from "../../src/core/fact.ts";
import * as check from "../../src/core/input/check.ts";
import { envReferenceOf } from "../../src/core/input/env-reference.ts";
import { draftJob } from "../../src/core/input/job.ts";
import { expandAll, wavesOf } from "../../src/core/input/manifest.ts";
import { nearest } from "../../src/core/input/nearest.ts";
import { storable } from "../../src/core/input/storable.ts";
import { fillPlaces, placesIn, renamePlaces } from "../../src/core/recipes/after-result.ts";
import { asText, promptFor } from "../../src/core/recipes/prompt-context.ts";
import { renderRecipe } from "../../src/core/recipes/render.ts";
import { readLeftWords } from "../../src/core/runs/left-words.ts";
import { readJson, writeJson } from "../../src/core/text/json-text.ts";
import { naturalOrder } from "../../src/core/text/natural-order.ts";
import { readSegments } from "../../src/core/text/output-order.ts";
import { compilePattern } from "../../src/core/text/pattern.ts";
import { nameOfUrl, urlFault, withoutCredentials } from "../../src/core/text/repo-url.ts";
import { matchesStars } from "../../src/core/text/stars.ts";
import { secretsIn, shownStore } from "../../src/core/text/store-address.ts";
import { parseHours } from "../../src/core/time/window.ts";
import { readConfigText } from "../../src/daemon/config/text.ts";
import { headsIn } from "../../src/host/facts/repo-facts.ts";
import { readSchedule } from "../../src/host/schedule.ts";
import { readRecipeText } from "../../src/intake/recipe-book.ts";
import { prepare } from "../../src/scheduler/apply/prepare.ts";
import { judged, snapshotOf } from "../../src/sources/beads/snapshot.ts";
import { readCard, titleOf, withHistory, withoutHistory } from "../../src/sources/cards/front-matter.ts";
import { isHalfMoved, untrackedIn } from "../../src/workspaces/base.ts";
import { branchesIn } from "../../src/workspaces/clones.ts";
import { submodulesIn } from "../../src/workspaces/merging/staging.ts";
import { filesIn } from "../../src/workspaces/uncommitted.ts";

/** `ends`: how it may end, "done" or the code of its refusal. */
export type Shape = { name: string; n: number; work: (n: number) => () => unknown; ends?: RegExp };

const of = (count: number, one: (n: number) => string, between = "") => Array.from({ length: count }, (_, n) => one(n)).join(between);
const bytes = (text: string) => new TextEncoder().encode(text);
const shape = (name: string, n: number, text: (n: number) => string, parse: (text: string) => unknown, ends?: RegExp): Shape => ({
	name,
	n,
	work: (count) => {
		const made = text(count);
		return () => parse(made);
	},
	...(ends ? { ends } : {}),
});
/** Several parsers of one text. What they refuse is as good as done; any other error is not. */
const each =
	(...parsers: ((text: string) => unknown)[]) =>
	(text: string): void => {
		for (const parse of parsers) {
			try {
				parse(text);
			} catch (error) {
				if (!REFUSED.test(String((error as { code?: unknown }).code))) throw error;
			}
		}
	};
const LIMIT = /^limit$/;
const REFUSED = /^(?:done|limit|invalid|unknown_key|conflict)$/;

// ---- JSON of a call -----------------------------------------------------------------------------------------------------------------

/** JSON texts that a caller may send as a line. */
export const JSON_TEXTS: [string, (n: number) => string][] = [
	["payloads within each other's objects", (n) => `${'{"payload":1.0,"a":'.repeat(n)}1${"}".repeat(n)}`],
	["payloads side by side", (n) => `[${of(n, () => '{"payload":1.0}', ",")}]`],
	["payloads far down", (n) => `${'{"a":'.repeat(90)}[${of(n, () => '{"payload":1.0}', ",")}]${"}".repeat(90)}`],
	["one key payload many times", (n) => `{${of(n, () => '"payload":1.0', ",")}}`],
	["a payload of deep lists", (n) => `{"payload":${"[".repeat(n)}${"]".repeat(n)}}`],
	["a payload of backslashes", (n) => `{"payload":["${"\\\\".repeat(n)}"]}`],
	["a payload of escaped quotes", (n) => `{"payload":["${'\\"'.repeat(n)}"]}`],
	["spaces in a payload", (n) => `{"payload":[1.0,${" ".repeat(n)}2]}`],
	["spaces after payload", (n) => `{"a":"\\"payload\\"","payload"${" ".repeat(n)}:1.0}`],
	["deep lists", (n) => `${"[".repeat(n)}${"]".repeat(n)}`],
	["many keys", (n) => `{${of(n, (one) => `"k${one}":1`, ",")}}`],
	["lone surrogates", (n) => `{"payload":["${"\\ud800".repeat(n)}"]}`],
];

const draft = (job: object) => () => draftJob(job, DEFAULTS, { now: 0, force: false });

export const RPC_SHAPES: Shape[] = [
	...JSON_TEXTS.map(([name, text]) => shape(name, 1000, text, (made) => writeJson(readJson(made)), /^done$|call stack/)),
	shape(
		"texts that look like marks of a payload",
		1000,
		(n) => `{"payload":1.0,"t":[${of(n, () => '"\\u0001json:0"', ",")}]}`,
		(text) => writeJson(readJson(text)),
	),
	{
		name: "a value of many members",
		n: 1000,
		work: (n) => {
			const value = Object.fromEntries(Array.from({ length: n }, (_, one) => [`k${one}`, [one, "x"]]));
			return () => check.json(value, "value");
		},
	},
	{
		name: "a job with many keys",
		n: 1000,
		work: (n) => draft(Object.fromEntries(Array.from({ length: n }, (_, one) => [`k${one}`, 1]))),
		ends: /^unknown_key$/,
	},
	{
		name: "a job after many others",
		n: 1000,
		work: (n) => draft({ command: ["true"], after: Array.from({ length: n }, (_, one) => one + 1) }),
	},
	{ name: "a job with a long duration", n: 1000, work: (n) => draft({ command: ["true"], timeout: "1s".repeat(n) }), ends: /^invalid$/ },
	{
		name: "many ids",
		n: 1000,
		work: (n) => () => readParams(METHODS["job.cancel"], { ids: Array.from({ length: n }, () => "a") }),
		ends: REFUSED,
	},
	{
		name: "words left by a run",
		n: 1000,
		work: (n) => {
			const text = JSON.stringify({ result: Array.from({ length: n }, () => [1]) });
			return () => readLeftWords(text);
		},
	},
];

// ---- YAML ---------------------------------------------------------------------------------------------------------------------------

/** YAML as a configuration, a recipe or the front of a card may have it. */
export const YAML_TEXTS: [string, (n: number) => string][] = [
	["keys", (n) => of(n, (one) => `k${one}: 1\n`)],
	["the same key", (n) => "k: 1\n".repeat(n)],
	["keys of prototypes", (n) => of(n, () => "__proto__: 1\n")],
	["lists in lists", (n) => `a: ${"[".repeat(n)}${"]".repeat(n)}`],
	["maps in maps", (n) => `a: ${"{a: ".repeat(n)}1${"}".repeat(n)}`],
	["lists that do not end", (n) => `a: ${"[".repeat(n)}`],
	["lists by dashes", (n) => `a:\n${"- ".repeat(n)}x`],
	["indented maps", (n) => of(Math.ceil(Math.sqrt(n)), (one) => `${" ".repeat(one)}a:\n`)],
	["aliases", (n) => `a: &a 1\n${of(n, (one) => `k${one}: *a\n`)}`],
	["aliases of aliases", (n) => `a0: &a0 [x]\n${of(n, (one) => `a${one + 1}: &a${one + 1} [*a${one}, *a${one}]\n`)}`],
	["anchors", (n) => of(n, (one) => `k${one}: &a${one} 1\n`)],
	["merge keys", (n) => `a: &a {x: 1}\n${of(n, (one) => `k${one}: {<<: *a}\n`)}`],
	["documents", (n) => "---\n".repeat(n)],
	["comments", (n) => "# x\n".repeat(n)],
	["a long line of spaces", (n) => `a: ${" ".repeat(n)}x`],
	["a long quoted text", (n) => `a: "${"\\n".repeat(n)}"`],
	["a long plain text", (n) => `a: ${"x ".repeat(n)}`],
	["a long block", (n) => `a: |\n${"  x\n".repeat(n)}`],
	["a folded block", (n) => `a: >\n${"  x\n\n".repeat(n)}`],
	["colons", (n) => `a: ${":".repeat(n)}`],
	["question marks", (n) => "? a\n".repeat(n)],
	["tags", (n) => of(n, (one) => `k${one}: !!str 1\n`)],
	["directives", (n) => `${"%TAG ! tag:x\n".repeat(n)}---\na: 1\n`],
	["tabs", (n) => "\t".repeat(n)],
	["carriage returns", (n) => "a: 1\r".repeat(n)],
	["anchors without a value", (n) => "&a ".repeat(n)],
	["tags without a value", (n) => "!!str ".repeat(n)],
	["empty tags", (n) => "! ".repeat(n)],
	["aliases without a place", (n) => "*a ".repeat(n)],
	["keys in a line", (n) => "a: b: ".repeat(n)],
	["escapes that are none", (n) => `a: "${"\\q".repeat(n)}"`],
	["half an escape", (n) => `a: "${"\\x".repeat(n)}"`],
	["keys within keys", (n) => "? ".repeat(n)],
	["ends of documents", (n) => "...\n".repeat(n)],
	["empty lines of a block", (n) => `a: |+\n  x${"\n".repeat(n)}`],
	["lists as keys", (n) => "[a]: ".repeat(n)],
	["aliases in a list with an alias", (n) => `[${of(n, (one) => `&a${one} 1,`)}&l [${of(n, (one) => `*a${one},`)}], *l]`],
];

const readYaml = each(
	(text) => readConfigText(text),
	(text) => readRecipeText(text, "wild"),
	(text) => readCard(bytes(`---\n${text}\n---\nbody\n`)),
);

export const YAML_SHAPES: Shape[] = YAML_TEXTS.flatMap(([name, text]) => [
	shape(name, 500, text, readYaml),
	shape(`${name}, far beyond the limits`, 100_000, text, (made) => readConfigText(made), REFUSED),
]);

// ---- templates and manifests --------------------------------------------------------------------------------------------------------

/** Prompts as a caller, a recipe or an item may have them. */
export const PROMPTS: [string, (n: number) => string][] = [
	["spaces in a place", (n) => `{{after.${" ".repeat(n)}x`],
	["words in a place", (n) => `{{after.${"a ".repeat(n)}`],
	["places", (n) => "{{after.1.result}} ".repeat(n)],
	["places with long paths", (n) => `{{after.1.result${".result".repeat(n)}}}`],
	["braces", (n) => "{{".repeat(n)],
	["escaped braces", (n) => "\\{{".repeat(n)],
	["escaped places", (n) => "\\{{prior}}".repeat(n)],
	["places of the start", (n) => "{{prior}}{{log_tail}}".repeat(n)],
	["lines", (n) => "\n".repeat(n)],
];
const PAST = { attempt: 1, exit_kind: "failed" as const, message: ".".repeat(1000), tail: "x".repeat(2000) };
const TELLING = { attempt: 2, past: PAST, branch: null, asked: null, answer: "y".repeat(10_000), left: null, verify: null };
const results = (n: number) => [{ job: 1, name: "a", result: JSON.stringify({ text: "x".repeat(n) }) }];

const expanded = (job: object) => () => expandAll([job]);
const finished = (steps: Generator<void, unknown, void>) => {
	for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
};
const prepared = (jobs: object[]) => () => finished(prepare({ jobs }, DEFAULTS, { now: 0, force: false }));
const jobs = (n: number, one: (index: number) => object) => Array.from({ length: n }, (_, index) => ({ command: ["true"], ...one(index) }));
const recipe = (text: string) => readRecipeText(text, "wild");

export const TEMPLATE_SHAPES: Shape[] = [
	...PROMPTS.map(([name, text]) =>
		shape(
			`prompts: ${name}`,
			400,
			text,
			each(
				(prompt) => draftJob({ agent: "claude", prompt, after: [1] }, DEFAULTS, { now: 0, force: false }),
				(prompt) => fillPlaces(prompt, results(100)),
				(prompt) => promptFor(prompt, "template", { ...TELLING, results: results(100) }),
				(prompt) => [asText(prompt), placesIn(prompt), renamePlaces(prompt, new Map([["1", "a"]]))],
				(prompt) => renderRecipe(recipe(JSON.stringify({ agent: "claude", prompt })), { vars: {}, built: {} }),
			),
		),
	),
	{
		name: "a prompt after many jobs",
		n: 250,
		work: (n) => () =>
			draftJob(
				{ agent: "claude", prompt: of(n, (one) => `{{after.${one + 1}.result}}`), after: Array.from({ length: n }, (_, one) => one + 1) },
				DEFAULTS,
				{ now: 0, force: false },
			),
	},
	shape(
		"a recipe with many variables",
		25,
		(n) =>
			JSON.stringify({
				prompt: of(n, (one) => `{{v${one}}}`),
				vars: Object.fromEntries(Array.from({ length: n }, (_, one) => [`v${one}`, "x"])),
			}),
		recipe,
	),
	shape(
		"a recipe with too many variables",
		1000,
		(n) => JSON.stringify({ prompt: "x", vars: Object.fromEntries(Array.from({ length: n }, (_, one) => [`v${one}`, "x"])) }),
		recipe,
		LIMIT,
	),
	shape(
		"a recipe whose patterns work together",
		1,
		(n) =>
			JSON.stringify({
				prompt: "x",
				vars: Object.fromEntries(
					Array.from({ length: 20 * n }, (_, one) => [`v${one}`, { default: `${"a".repeat(1990)}!`, pattern: "(?:a?){300}a*!" }]),
				),
			}),
		recipe,
		REFUSED,
	),
	shape(
		"a recipe with too many steps",
		1000,
		(n) =>
			JSON.stringify({ agent: "claude", steps: Object.fromEntries(Array.from({ length: n }, (_, one) => [`s${one}`, { prompt: "x" }])) }),
		recipe,
		/^invalid$/,
	),
	{
		name: "a recipe that names a long value many times",
		n: 1000,
		work: (n) => {
			const made = recipe(JSON.stringify({ prompt: "{{a}}".repeat(n), vars: { a: { required: true } } }));
			return () => renderRecipe(made, { vars: { a: "x".repeat(100_000) }, built: {} });
		},
		ends: LIMIT,
	},
	{
		name: "one job for each",
		n: 1000,
		work: (n) => expanded({ command: ["echo", "${item}"], for_each: Array.from({ length: n }, (_, one) => one) }),
	},
	{
		name: "a long prompt for each",
		n: 2000,
		work: (n) => expanded({ agent: "claude", prompt: "x".repeat(200_000), for_each: Array.from({ length: n }, (_, one) => one) }),
		ends: LIMIT,
	},
	{
		name: "a long value for each",
		n: 2000,
		work: (n) => expanded({ command: ["echo"], for_each: { a: ["x".repeat(200_000)], b: Array.from({ length: n }, (_, one) => one) } }),
		ends: LIMIT,
	},
	{
		name: "combinations of lists of one",
		n: 100,
		work: (n) =>
			expanded({
				command: ["echo"],
				for_each: Object.fromEntries([["last", [1, 2, 3]], ...Array.from({ length: n }, (_, one) => [`v${one}`, [1]])]),
			}),
	},
	{
		name: "combinations without end",
		n: 100,
		work: (n) => expanded({ command: ["echo"], for_each: Object.fromEntries(Array.from({ length: n }, (_, one) => [`v${one}`, [1, 2]])) }),
		ends: LIMIT,
	},
	{
		name: "combinations of very many variables",
		n: 20_000,
		work: (n) =>
			expanded({
				command: ["echo"],
				for_each: {
					last: Array.from({ length: 1000 }, (_, one) => one),
					...Object.fromEntries(Array.from({ length: n }, (_, one) => [`v${one}`, [1]])),
				},
			}),
		ends: LIMIT,
	},
	{
		name: "after a group, many times",
		n: 10_000,
		work: (n) => () =>
			expandAll([
				{ name: "a", command: ["true"], for_each: Array.from({ length: n }, (_, one) => one) },
				...jobs(n, () => ({ after: ["a"] })),
			]),
		ends: LIMIT,
	},
	{
		name: "a manifest of jobs",
		n: 300,
		work: (n) => prepared(jobs(n, (one) => ({ name: `j${one}`, ...(one > 0 ? { after: [`j${one - 1}`] } : {}) }))),
	},
	{ name: "makers of one artifact", n: 300, work: (n) => prepared(jobs(n, () => ({ produces: ["custom:a:b"] }))) },
	{
		name: "makers and consumers of one artifact",
		n: 300,
		work: (n) => prepared(jobs(n, (one) => (one % 2 ? { produces: ["custom:a:b"] } : { needs: ["custom:a:b"] }))),
	},
	{
		name: "jobs that make and need one artifact",
		n: 300,
		work: (n) => prepared(jobs(n, () => ({ produces: ["custom:a:b"], needs: ["custom:a:b"] }))),
	},
	{
		name: "a job of wrong keys only",
		n: 2000,
		work: (n) => prepared([Object.fromEntries(Array.from({ length: n }, (_, one) => [`k${one}`, 1]))]),
		ends: /^(?:unknown_key|invalid)$/,
	},
	{
		name: "jobs with wrong keys",
		n: 300,
		work: (n) => prepared(jobs(n, () => ({ prioritie: 1, agnet: 2 }))),
		ends: /^(?:unknown_key|invalid)$/,
	},
	{ name: "waves of makers", n: 300, work: (n) => () => wavesOf(jobs(n, () => ({ produces: ["custom:a:b"] }))) },
];

// ---- agents' streams ----------------------------------------------------------------------------------------------------------------

const event = (one: unknown) => `${JSON.stringify(one)}\n`;
/** What a program may print. */
export const STREAMS: [string, (n: number) => string][] = [
	["a line without end", (n) => "x".repeat(10 * n)],
	["half an object", (n) => `{"type":"assistant","a":"${"x".repeat(n)}`],
	["half an object with many members", (n) => `{${of(n, (one) => `"k${one}":1`, ",")},`],
	["tiny lines", (n) => "\n".repeat(n)],
	["braces", (n) => `${"{".repeat(n)}\n`],
	["braces and quotes", (n) => `${'{"'.repeat(n)}\n`],
	["words before an object", (n) => `${of(n, () => "warning { ")}{"type":"x"}\n`],
	["deep lists", (n) => `${"[".repeat(n)}${"]".repeat(n)}\n`],
	["deep objects", (n) => `${'{"a":'.repeat(n)}1${"}".repeat(n)}\n`],
	["objects over several lines", (n) => `{\n"a":1\n}\n`.repeat(n)],
	["objects that never close", (n) => `{\n${"x\n".repeat(n)}`],
	["halves of surrogates", (n) => event({ type: "assistant", message: { content: [{ type: "text", text: "\ud800".repeat(n) }] } })],
	["one long text", (n) => event({ type: "result", subtype: "success", result: "a? ".repeat(n) })],
	[
		"tools of claude",
		(n) =>
			of(n, (one) =>
				event({
					type: "assistant",
					message: { id: `m${one}`, content: [{ type: "tool_use", id: `t${one}`, name: "Bash", input: { a: [[[one]]] } }] },
				}),
			),
	],
	[
		"denials of claude",
		(n) =>
			of(
				n,
				(one) =>
					event({
						type: "assistant",
						message: { content: [{ type: "tool_use", id: `t${one}`, name: "Bash", input: { command: `x${one}` } }] },
					}) +
					event({
						type: "user",
						message: {
							content: [
								{
									type: "tool_result",
									tool_use_id: `t${one}`,
									is_error: true,
									content: "Claude requested permissions to use Bash, but you haven't granted it yet.",
								},
							],
						},
					}),
			),
	],
	[
		"one result with many denials",
		(n) =>
			event({
				type: "result",
				subtype: "success",
				result: "x",
				permission_denials: Array.from({ length: n }, (_, one) => ({
					tool_name: "Bash",
					tool_use_id: `t${one}`,
					tool_input: { command: `c${one}` },
				})),
			}),
	],
	[
		"items of codex",
		(n) =>
			of(n, (one) =>
				event({
					type: "item.completed",
					item: { id: `i${one}`, type: "command_execution", command: "ls", aggregated_output: "x", exit_code: 1, status: "failed" },
				}),
			),
	],
	["pieces of gemini", (n) => of(n, () => event({ type: "message", role: "assistant", content: "x", delta: true }))],
	[
		"parts of opencode",
		(n) =>
			of(n, (one) =>
				event({
					type: "tool_use",
					part: {
						id: `p${one}`,
						type: "tool",
						tool: "bash",
						state: { status: "error", error: "rejected permission", input: { command: "x" } },
					},
				}),
			),
	],
];
const ABOUT = { stderr: "", now: 0, timezone: "UTC", before: NOTHING };
const TEXTS: [string, (n: number) => string][] = [
	["spaces", (n) => " ".repeat(n)],
	["lines", (n) => "\n".repeat(n)],
	["digits", (n) => "0".repeat(n)],
	["dots", (n) => `${".".repeat(n)}x`],
	["retries", (n) => "retry after 1 s ".repeat(n)],
	["attempts", (n) => "Attempt 1 failed: x. Retrying after 1ms...\n".repeat(n)],
	["quotes", (n) => `"message": "${'\\"'.repeat(n)}`],
	["errors", (n) => "Error when talking to Gemini API\n at x\n".repeat(n)],
];

const readStream = (format: Format) => (stdout: string) => {
	const reader = createReader(format);
	reader.push(bytes(stdout));
	return judge(format, reader.end(), { code: 0 }, ABOUT);
};
const readErrors = (format: Format) => (stderr: string) => {
	const reader = createReader(format);
	return [judge(format, reader.end(), { code: 1 }, { ...ABOUT, stderr }), waitsFor(format, reader.reading, stderr)];
};
const OWN = { outcomes: [{ match: "(quota|limit).*(reached|over)", is: "limited" as const }], usage: { tokens: "tokens: ([\\d,]+)" } };

const cutInPieces = (text: string, size: number): string[] =>
	Array.from({ length: Math.ceil(text.length / size) }, (_, one) => text.slice(one * size, (one + 1) * size));
/** One line in pieces of some letters, as a pipe may give it. */
const IN_PIECES: [string, (n: number) => string][] = [
	["an event", (n) => event({ type: "result", subtype: "success", result: "x".repeat(10 * n) })],
	["no event", (n) => `${"x".repeat(10 * n)}\n`],
	["a line without end", (n) => "x".repeat(10 * n)],
	["an object over several lines", (n) => `{\n${'"a": 1,\n'.repeat(n)}`],
];
const pieceShapes = IN_PIECES.flatMap(([name, text]) =>
	(["reader", "renderer"] as const).map(
		(which): Shape => ({
			name: `all programs, in small pieces, ${which}: ${name}`,
			n: 500,
			work: (n) => {
				const pieces = cutInPieces(text(n), 7);
				const encoded = pieces.map(bytes);
				return () => {
					for (const format of FORMATS) {
						if (which === "reader") {
							const reader = createReader(format);
							for (const piece of encoded) reader.push(piece);
							reader.end();
						} else {
							const renderer = createRenderer(format);
							for (const piece of pieces) renderer.push(piece);
							renderer.end();
						}
					}
				};
			},
		}),
	),
);

export const AGENT_SHAPES: Shape[] = [
	...pieceShapes,
	...STREAMS.map(([name, text]) => shape(`all programs: ${name}`, 500, text, each(...FORMATS.map(readStream)))),
	...TEXTS.map(([name, text]) =>
		shape(
			`all programs, stderr: ${name}`,
			500,
			text,
			each(...FORMATS.map(readErrors), (message) => closingWords(`${message}?`)),
		),
	),
	...STREAMS.map(([name, text]) =>
		shape(
			`records, text for people, an agent of one's own: ${name}`,
			500,
			text,
			each(
				(stdout) => createRenderer("claude").push(stdout),
				(record) => [
					callsInTranscript([record], 0),
					usedInRollout(record, 0, null),
					resetInRollout(record),
					deniedInRollout(record),
					usedInGeminiRecords([record], 0),
				],
				(stdout) => {
					const watch = createWatch(OWN);
					watch.stdout(bytes(stdout));
					return watch.judge("command", createReader("command").end(), { code: 0 }, ABOUT);
				},
			),
		),
	),
];

// ---- the rest -----------------------------------------------------------------------------------------------------------------------

const ESC = "\u001b";
const SEQUENCES: [string, (n: number) => string][] = [
	["escapes", (n) => ESC.repeat(n)],
	["beginnings of colours", (n) => `${ESC}[`.repeat(n)],
	["a colour without end", (n) => `${ESC}[${"1;".repeat(n)}`],
	["titles without end", (n) => `${ESC}]0;x`.repeat(n)],
	["carriage returns", (n) => "\r".repeat(n)],
	["directions", (n) => "\u202e".repeat(n)],
];
const ADDRESSES: [string, (n: number) => string][] = [
	["slashes", (n) => `https://h/${"/".repeat(n)}x`],
	["colons", (n) => `postgres://${":".repeat(n)}`],
	["at signs", (n) => `postgres://a:b${"@".repeat(n)}`],
	["schemes", (n) => "a://".repeat(n)],
	["passwords", (n) => "https://u:p@h ".repeat(n)],
	["parameters", (n) => `postgres://h/?${"password=x&".repeat(n)}`],
];
const CARDS: [string, (n: number) => string][] = [
	["marks of a heading", (n) => `# ${"#".repeat(n)}x`],
	["spaces in a heading", (n) => `# x${" ".repeat(n)}y`],
	["headings", (n) => "# History\n".repeat(n)],
	["spaces after History", (n) => `## History${" ".repeat(n)}x`],
	["lines of history", (n) => `## History\n${"- 2026-01-01T00:00:00Z x\n".repeat(n)}`],
	["lines of dashes", (n) => `---\n${"--\n".repeat(n)}`],
];
/** Each issue has two parents, which have the same two parents. */
const ISSUES: [string, (n: number) => object[]][] = [
	["parents of parents", (n) => Array.from({ length: n }, (_, one) => ({ id: `a-${one}`, parent: `a-${one + 1}` }))],
	[
		"two parents at each level",
		(n) =>
			Array.from({ length: 2 * n }, (_, one) => ({
				id: `a-${one}`,
				dependencies: [0, 1].map((side) => ({ depends_on_id: `a-${(one - (one % 2)) + 2 + side}`, type: "parent-child" })),
			})),
	],
	["children of one", (n) => Array.from({ length: n }, (_, one) => ({ id: `a-${one}`, parent: "a-0" }))],
	[
		"all wait for the children of one",
		(n) =>
			Array.from({ length: n }, (_, one) => ({
				id: `a-${one}`,
				parent: "a-0",
				dependencies: [{ depends_on_id: "a-0", type: "waits-for" }],
			})),
	],
	[
		"all wait for the children of one, which are closed",
		(n) =>
			Array.from({ length: n }, (_, one) => ({
				id: `a-${one}`,
				status: one % 2 ? "closed" : "open",
				...(one % 2 ? { parent: "a-0" } : {}),
				dependencies: [{ depends_on_id: "a-0", type: "waits-for" }],
			})),
	],
	[
		"one with many dependencies",
		(n) => [{ id: "a-1", dependencies: Array.from({ length: n }, (_, one) => ({ depends_on_id: `b-${one}`, type: "blocks" })) }],
	],
];
const NAMES = Array.from({ length: 100 }, (_, one) => `name-${one}`);

const shownLog = (made: string) => {
	const log = createLogText("shown", "keep", "stdout");
	return [log.push(made, undefined, "command"), log.push(made, [{ stream: "stdout", length: made.length }], "claude"), log.end()];
};

const COMMIT = "0123456789".repeat(4);
/** What git prints of names that a repository or a run has chosen. */
const GIT_SHAPES: Shape[] = [
	shape("heads", 500, (n) => of(n, (one) => `${COMMIT} refs/heads/b${one}\n`), headsIn),
	shape("a head with a long name", 500, (n) => `${COMMIT} refs/heads/${"a ".repeat(n)}\n`, headsIn),
	shape("worktrees", 500, (n) => of(n, (one) => `worktree /w/${one}\0HEAD ${COMMIT}\0branch refs/heads/b${one}\0\0`), worktreesIn),
	shape("one worktree with many lines", 500, (n) => `worktree /w\0${"prunable \0".repeat(n)}\0`, worktreesIn),
	shape(
		"branches of a clone",
		500,
		(n) => of(n, (one) => `refs/remotes/origin/b${one} ${COMMIT} \nrefs/heads/b${one} ${COMMIT} /w/${one}\n`),
		branchesIn,
	),
	shape("a worktree's path of many words", 500, (n) => `refs/heads/b ${COMMIT} ${"a ".repeat(n)}\n`, branchesIn),
	shape("submodules", 500, (n) => of(n, (one) => `160000 ${COMMIT} 0\ts${one}\0`), submodulesIn),
	shape("a file with a long name", 500, (n) => `160000 ${"0".repeat(n)} 0\t${"\n".repeat(n)}\0`, submodulesIn),
	shape("files that are not committed", 500, (n) => of(n, (one) => `?? f${one}\0`), filesIn),
	{
		name: "a move that was cut short",
		n: 500,
		work: (n) => {
			const [old, added] = ["o", "a"].map((kind) => Array.from({ length: n }, (_, one) => `${kind}${one}`)) as [string[], string[]];
			const all = new Set([...old, ...added]);
			return () => isHalfMoved(new Set(old), added, all, new Set(added));
		},
	},
];

export const OTHER_SHAPES: Shape[] = [
	...GIT_SHAPES.map((one) => ({ ...one, name: `what git prints: ${one.name}` })),
	...SEQUENCES.map(([name, text]) =>
		shape(`a terminal: ${name}`, 500, text, (made) => [
			tame(made, "keep"),
			printable(made),
			splitKeys(made),
			storable(made),
			shownLog(made),
		]),
	),
	...ADDRESSES.map(([name, text]) =>
		shape(`an address: ${name}`, 500, text, (made) => [
			urlFault(made),
			nameOfUrl(made),
			withoutCredentials(made),
			secretsIn(made),
			shownStore(made),
		]),
	),
	...CARDS.map(([name, text]) =>
		shape(
			`a card: ${name}`,
			500,
			text,
			(made) => {
				const card = readCard(bytes(made));
				return [titleOf(card), withHistory(card.body, "\n", "x"), withoutHistory(card.body)];
			},
			REFUSED,
		),
	),
	...ISSUES.map(
		([name, issues]): Shape => ({
			name: `issues of beads: ${name}`,
			n: 300,
			work: (n) => {
				const values = issues(n);
				return () => {
					const snapshot = snapshotOf("b", "/", { values, faults: [] });
					return [...snapshot.issues.values()].map((issue) => judged("b", issue, snapshot, [], 0));
				};
			},
		}),
	),
	shape(
		"git's complaint about untracked files",
		500,
		(n) => `error: The following untracked working tree files would be overwritten by merge:\n${'\t"a\\nb"\n'.repeat(n)}`,
		untrackedIn,
	),
	shape(
		"git's complaint that does not end",
		500,
		(n) => `untracked working tree files would be overwritten by merge:\n\t${"x".repeat(n)}`,
		untrackedIn,
	),
	shape("the name of a branch", 500, (n) => `a${"/b".repeat(n)}`, branchFault),
	shape(
		"a mistyped word",
		500,
		(n) => "name-".repeat(n),
		(word) => nearest(word, NAMES),
	),
	{ name: "numbers in names", n: 100, work: (n) => () => naturalOrder("1a".repeat(n), `${"1a".repeat(n)}b`) },
	{ name: "a name with stars", n: 100, work: (n) => () => matchesStars(`${"*a".repeat(n)}b`, "a".repeat(10 * n)) },
	{
		name: "variables",
		n: 100,
		work: (n) => {
			const env = Object.fromEntries(Array.from({ length: n }, (_, one) => [`K${one}`, `://${"a".repeat(n)}`]));
			return () => [
				maskedDeep({ env }, { names: SECRET_NAMES }),
				Object.entries(env).map(([name, value]) => looksSecret(name, value.slice(0, 10))),
			];
		},
	},
	shape("a reference", 500, (n) => `file:/${"/".repeat(n)}`, envReferenceOf),
	shape("a file of variables", 500, (n) => `${"a='\\'\n".repeat(n)}\n${"b=\n\n".repeat(n)}${"export ".repeat(n)}`, parseDotenv),
	shape("hours", 500, (n) => `${"0".repeat(n)}:00-10:00`, parseHours),
	shape(
		"a schedule",
		500,
		(n) => `${"*/1,".repeat(n)}1 * * * *`,
		(text) => readSchedule(text, "UTC")(0),
		REFUSED,
	),
	shape(
		"a schedule that never comes",
		1,
		() => "0 0 30 2 *",
		(text) => readSchedule(text, "UTC")(0),
		REFUSED,
	),
	shape("the order of a run's output", 500, (n) => of(n, (one) => `${one % 2 ? "e" : "o"} ${one}\n`), readSegments),
	...["(a+)+", "(a|aa)+$", "(.*)(.*)(.*)x", "(?:a?){20}a{20}"].map((pattern) =>
		shape(
			`the pattern ${pattern}`,
			100,
			(n) => `${"a".repeat(n)}!`,
			(text) => compilePattern(pattern).test(text),
		),
	),
	shape(
		"a long pattern",
		60,
		(n) => "(a|".repeat(Math.min(n, 90)) + "b".repeat(10) + ")".repeat(Math.min(n, 90)),
		(text) => compilePattern(text),
		REFUSED,
	),
];
