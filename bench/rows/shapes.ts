// Hostile texts, as large as the daemon takes them: how long the daemon's event loop is held while it serves each, by what a second connection waits for an answer.

import { createConnection, type Socket } from "node:net";
import { type Client, connect } from "../../src/api/client.ts";
import { socketOf } from "../../src/api/socket-path.ts";
import { JSON_TEXTS, PROMPTS, STREAMS, YAML_TEXTS } from "../../test/shapes/shapes.ts";
import { startDaemon } from "../daemon.ts";
import type { Bench, Measure, Row } from "../row.ts";
import { sample } from "../statistics.ts";

type Call = { name: string; line: string };

export const shapes: Row = {
	name: "shapes",
	title: "the event loop under hostile texts",
	async run(bench) {
		const daemon = await startDaemon(bench, "shapes", { max_concurrent: 1 });
		const path = socketOf(daemon.home);
		const other = await connect(path);
		try {
			await daemon.client.call("scheduler.pause", {});
			const measures: Measure[] = [];
			for (const [group, calls] of Object.entries(groups(bench))) measures.push(await worstOf(bench, group, calls, path, other));
			return measures;
		} finally {
			other.close();
			await daemon.stop();
		}
	},
};

const request = (method: string, params: unknown): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const jobs = (count: number, one: (n: number) => object) => Array.from({ length: count }, (_, n) => ({ command: ["true"], ...one(n) }));

/** As many repetitions as make a text of about that length. */
function sized(text: (n: number) => string, length: number): string {
	const each = (text(200).length - text(100).length) / 100;
	return text(Math.max(1, Math.floor((length - 1000) / Math.max(each, 0.01)))).slice(0, length);
}

function groups(bench: Bench): Record<string, Call[]> {
	const megabyte = bench.size(1_000_000, 200_000);
	const line = bench.size(9_900_000, 1_000_000);
	const count = bench.size(50_000, 5_000);
	// A wrong key beside the jobs: all of them are read, and none goes in.
	const apply = (name: string, all: object[]) => ({ name, line: request("job.apply", { manifest: { jobs: all, bogus: 1 } }) });
	return {
		"a call with nothing in it": [{ name: "scheduler.version", line: request("scheduler.version", {}) }],
		"10 MB of text for a method that is not there (the floor)": [{ name: "text", line: request("no.such", { text: "x".repeat(line) }) }],
		"10 MB of JSON": JSON_TEXTS.map(([name, text]) => ({ name, line: request("no.such", {}).replace("{}", sized(text, line)) })),
		"1 MB of YAML for config.check": YAML_TEXTS.map(([name, text]) => ({
			name,
			line: request("config.check", { text: sized(text, megabyte) }),
		})),
		"1 MB of YAML for recipe.check": YAML_TEXTS.map(([name, text]) => ({
			name,
			line: request("recipe.check", { text: sized(text, megabyte) }),
		})),
		"YAML at the limit for config.check": YAML_TEXTS.map(([name, text]) => ({
			name,
			line: request("config.check", { text: text(bench.size(4_000, 400)) }),
		})),
		"YAML at the limit for recipe.check": YAML_TEXTS.map(([name, text]) => ({
			name,
			line: request("recipe.check", { text: text(bench.size(20_000, 2_000)) }),
		})),
		"patterns in recipe.check": ["(a+)+", "(?:a?){300}a*!", "(.*)(.*)(.*)x"].map((pattern) => ({
			name: pattern,
			line: request("recipe.check", {
				text: JSON.stringify({
					prompt: "x",
					vars: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`v${n}`, { pattern, default: `${"a".repeat(1990)}!` }])),
				}),
			}),
		})),
		"a prompt of 1 MB for job.add": PROMPTS.map(([name, text]) => ({
			name,
			line: request("job.add", { agent: "claude", prompt: sized(text, megabyte), after: [1] }),
		})),
		"1 MB of an agent's output for agent.judge": STREAMS.map(([name, text]) => ({
			name,
			line: request("agent.judge", { name: "claude", stdout: sized(text, megabyte), exit: 0 }),
		})),
		"manifests for job.apply": [
			apply(
				"jobs",
				jobs(count, (n) => ({ name: `j${n}` })),
			),
			apply(
				"makers and consumers of one artifact",
				jobs(count, (n) => (n % 2 ? { produces: ["custom:a:b"] } : { needs: ["custom:a:b"] })),
			),
			apply("one job of wrong keys", [Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]))]),
			apply(
				"jobs with wrong keys",
				jobs(count, () => ({ prioritie: 1 })),
			),
			apply("a long prompt for each", [
				{ agent: "claude", prompt: "x".repeat(megabyte), for_each: Array.from({ length: count }, (_, n) => n) },
			]),
			apply("many combinations", [
				{ command: ["true"], for_each: { a: Array.from({ length: 1000 }, (_, n) => n), b: Array.from({ length: 900 }, (_, n) => n) } },
			]),
		],
	};
}

async function worstOf(bench: Bench, group: string, calls: Call[], path: string, other: Client): Promise<Measure> {
	const worst: number[] = [];
	let named = "";
	for (let round = 0; round < Math.min(3, bench.rounds); round++) {
		let longest = 0;
		for (const { name, line } of calls) {
			bench.progress(`${group}: ${name}`);
			const held = await heldBy(line, path, other);
			if (held > longest) [longest, named] = [held, name];
		}
		worst.push(longest);
	}
	const note = calls.length === 1 ? {} : { note: `worst of ${calls.length} shapes: ${named}.` };
	return { what: `${group}: event loop held at most`, unit: "ms", measured: sample(worst), ...note };
}

/** The longest wait of the other connection while the call is served. */
async function heldBy(line: string, path: string, other: Client): Promise<number> {
	const socket = createConnection(path);
	let isServed = false;
	const served = answered(socket, line).then(() => {
		isServed = true;
	});
	let longest = 0;
	while (!isServed) {
		const start = performance.now();
		await other.call("scheduler.version", {});
		longest = Math.max(longest, performance.now() - start);
	}
	await served;
	socket.destroy();
	return longest;
}

const answered = (socket: Socket, line: string): Promise<void> =>
	new Promise((resolve, reject) => {
		socket.on("data", (chunk) => {
			if (chunk.includes(10)) resolve();
		});
		socket.on("error", reject);
		socket.on("close", () => resolve());
		socket.write(`${line}\n`);
	});
