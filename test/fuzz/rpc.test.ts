// Random and mutated requests: never a crash, never a stack, never silence where an answer is due, always an answer that JSON-RPC allows.

import { createConnection } from "node:net";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { METHODS, RPC_CODES } from "../../src/api/protocol.ts";
import { localHost } from "../../src/host/local.ts";
import { type Desk, openDesk, openDoors } from "../make/daemons/served.ts";
import { JSON_TEXTS, PROMPTS, STREAMS, YAML_TEXTS } from "../shapes/shapes.ts";

const NAMES = Object.keys(METHODS);
const KNOWN = new Set<number>([...Object.values(RPC_CODES), -32131, -32132, -32133, -32134, -32135]);

/** What an answer may look like; anything else is a finding. */
function fault(answer: unknown): string | undefined {
	if (answer === null || typeof answer !== "object") return "no object";
	const one = answer as Record<string, unknown>;
	if (one.jsonrpc !== "2.0") return "no version";
	if (!("id" in one) || !["string", "number", "object"].includes(typeof one.id) || (typeof one.id === "object" && one.id !== null))
		return "a bad id";
	if ("result" in one === "error" in one) return "not one of result and error";
	if ("result" in one) return undefined;
	const { code, message } = one.error as { code: number; message: string };
	if (!KNOWN.has(code)) return `an unknown number ${code}`;
	if (code === RPC_CODES.internal) return `our fault: ${message}`;
	if (typeof message !== "string" || message === "" || message.length > 2000) return "no message, or an endless one";
	if (/\bat .*\.(?:ts|js):\d+/.test(JSON.stringify(one.error))) return "a stack";
	return undefined;
}

function check(desk: Desk, text: string, answer: unknown): void {
	const faults = (Array.isArray(answer) ? answer : answer === undefined ? [] : [answer]).flatMap((one) => fault(one) ?? []);
	if (faults.length > 0)
		throw new Error(
			`${faults.join(", ")}\n${text.slice(0, 2000)}\n${JSON.stringify(answer).slice(0, 2000)}\n${desk.pretended.errors.join("\n")}`,
		);
}

const words = fc.constantFrom(
	"build",
	"1",
	"2",
	"owner:ann",
	"tokens",
	"default",
	"code",
	"custom:a:b",
	"max_concurrent",
	"",
	"../x",
	"--help",
	"__proto__",
	"\u0000",
	"漢字",
	"2030-01-01T00:00:00Z",
	"5m",
	"x".repeat(300),
);
const value = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 4, depthSize: "small" },
		words,
		fc.integer({ min: -3, max: 12 }),
		fc.constantFrom(true, false, null, 1e300, -0, 0.5, Number.MAX_SAFE_INTEGER, 2 ** 53),
		fc.string({ maxLength: 8, unit: "binary" }),
		fc.array(tie("value"), { maxLength: 3 }),
		fc.dictionary(words, tie("value"), { maxKeys: 3 }),
	),
})).value;

/** Fields that the method has, mostly, with values of the right kind, sometimes. */
const paramsOf = (name: string) => {
	const fields = [...Object.keys(METHODS[name as keyof typeof METHODS].params), "by", "force", "command", "payload", "after", "lane"];
	return fc.oneof(
		{ weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 6 }) },
		{ weight: 1, arbitrary: value },
	);
};
const request = fc.constantFrom(...NAMES).chain((method) =>
	fc.record(
		{
			jsonrpc: fc.oneof({ weight: 20, arbitrary: fc.constant("2.0") }, { weight: 1, arbitrary: value }),
			id: fc.oneof({ weight: 10, arbitrary: fc.integer() }, { weight: 1, arbitrary: value }),
			method: fc.oneof({ weight: 20, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: value }),
			params: paramsOf(method),
		},
		{ requiredKeys: ["jsonrpc", "method"] },
	),
);
const message = request.map((one) => JSON.stringify(one));
const batch = fc.array(fc.oneof(request, value), { maxLength: 5 }).map((all) => JSON.stringify(all));
/** A good text with something cut out, doubled or changed. */
const mutated = fc.tuple(message, fc.nat(), fc.nat(20), fc.string({ maxLength: 3, unit: "binary" })).map(([text, at, length, inserted]) => {
	const from = at % (text.length + 1);
	return text.slice(0, from) + inserted + text.slice(from + length);
});
/** Texts that would make a careless parser work for ever, where a caller can put them. */
const hostile = fc
	.tuple(
		fc.constantFrom(...JSON_TEXTS, ...YAML_TEXTS, ...PROMPTS, ...STREAMS),
		fc.integer({ min: 1, max: 300 }),
		fc.constantFrom(...NAMES, "config.check", "recipe.check", "agent.judge", "job.add"),
		fc.nat(),
	)
	.map(([[, text], n, method, place]) => {
		const made = text(n);
		const fields = Object.keys(METHODS[method as keyof typeof METHODS].params);
		const params = {
			[fields[place % Math.max(1, fields.length)] ?? "x"]: made,
			text: made,
			prompt: made,
			stdout: made,
			exit: 0,
			name: "claude",
		};
		const known = Object.fromEntries(Object.entries(params).filter(([key]) => fields.includes(key)));
		const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: known });
		return place % 3 === 0 ? request.replace('"id":1', `"id":1,"params":${made}`) : request;
	});
const anyText = fc.oneof(
	{ weight: 3, arbitrary: hostile },
	{ weight: 6, arbitrary: message },
	{ weight: 2, arbitrary: batch },
	{ weight: 2, arbitrary: mutated },
	{ weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);

async function peopled(): Promise<Desk> {
	const desk = await openDesk({ config: { lanes: { default: {}, code: { max: 1 } }, accounts: { work: {} } } });
	// Time flies: calls that wait for news do not wait long.
	let now = 0;
	desk.context.clock = {
		now: () => desk.t.clock.now(),
		monotonic: () => {
			now += 5000;
			return now;
		},
	};
	desk.context.host = { after: (ms, call, grip) => localHost.after(Math.min(ms, 1), call, grip), turn: localHost.turn };
	await desk.t.add({ name: "build" });
	await desk.t.add({ name: "later", after: ["build"], payload: { n: 1 } });
	await desk.t.sluice.kernel.agent.create({ name: "a" });
	return desk;
}

describe("whatever is said", () => {
	test("gets an answer that JSON-RPC allows", async () => {
		const desk = await peopled();
		await fc.assert(
			fc.asyncProperty(anyText, async (text) => check(desk, text, await desk.say(text))),
			{ numRuns: Number(process.env.SLUICE_FUZZ_RUNS ?? 6000) },
		);
		expect(desk.pretended.errors).toEqual([]);
		expect((await desk.call("scheduler.version", {})).pid).toBe(4711);
	}, 900_000);

	test("by a viewer changes nothing", async () => {
		const desk = await peopled();
		const viewer = { role: "viewer", by: "viewer", channel: "http" } as const;
		const before = await desk.t.sluice.lastEvent();
		await fc.assert(
			fc.asyncProperty(message, async (text) => check(desk, text, await desk.say(text, viewer))),
			{ numRuns: 2000 },
		);
		expect(await desk.t.sluice.lastEvent()).toBe(before);
	}, 60_000);

	test("over the socket each line gets its answer, and the door stays open", async () => {
		const desk = await peopled();
		const { socket } = await openDoors(desk);
		const line = createConnection(socket);
		onTestFinished(() => void line.destroy());
		const texts = fc.sample(anyText, 1500).map((text) => text.replaceAll("\n", " "));
		// One after the other would be slow, all at once would not show which one hung: a known request after each.
		let out = "";
		const answered = new Promise<void>((resolve, reject) => {
			line.on("data", (chunk) => {
				out += chunk;
				if (out.includes('"id":"the end"')) resolve();
			});
			line.on("close", () => reject(new Error("the door was shut")));
		});
		for (const text of texts) line.write(`${text}\n`);
		line.write(`${JSON.stringify({ jsonrpc: "2.0", id: "the end", method: "job.wait", params: { ids: [1], timeout_ms: 0 } })}\n`);
		await answered;
		for (const text of out.trimEnd().split("\n")) check(desk, "over the socket", JSON.parse(text));
		expect(desk.pretended.errors).toEqual([]);
	}, 60_000);
});
