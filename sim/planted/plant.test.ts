// How a planted bug gets into the engine: by the names of functions, whatever their bodies look like and wherever they are.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, it } from "vitest";
import { type Bug, bugsOf, everywhere, hidden, type Mistake, method, placeOf, within } from "./bug.ts";
import { plant, readEngine } from "./plant.ts";

const folders: string[] = [];
afterEach(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Module = Record<string, (...args: unknown[]) => unknown>;

/** An engine of these files. */
function engineOf(files: Record<string, string>) {
	const folder = mkdtempSync(join(tmpdir(), "sluice-plant-"));
	folders.push(folder);
	for (const [name, text] of Object.entries({ "package.json": '{ "type": "module" }', ...files })) writeFileSync(join(folder, name), text);
	return readEngine(folder);
}

const bugOf = (mistake: Mistake): Bug => bugsOf("a rule", { "the bug": mistake })[0] as Bug;

/** The module with the bugs in it, running; the last of them is switched on. */
async function planted(mistakes: Mistake[], files: Record<string, string>): Promise<Module> {
	const engine = engineOf(files);
	const bugs = bugsOf("a rule", Object.fromEntries(mistakes.map((mistake, index) => [String(index), mistake])));
	const { texts, places, faults } = await plant(bugs, engine);
	expect(faults).toEqual([]);
	const [[path, text] = ["", ""]] = texts;
	const file = join(engine.folder, `planted-${path}`);
	writeFileSync(file, text);
	const on = bugs.at(-1) as Bug;
	Object.assign(globalThis, {
		plantedBug: (place: string, right: () => unknown) => (place === places.get(on.name) ? on.wrong(right) : right),
	});
	return (await import(pathToFileURL(file).href)) as Module;
}

/** Named like the function of the texts below. */
const price = (count: number): number => count * 10;
const twice = everywhere(price, (right) => (count) => 2 * right(count));
const total = hidden("total");
const twiceInTotal = within(total, price, (right) => (count) => 2 * right(count));

it.each([
	["a function", "export function price(count) { return count * 10; } export function total(a, b) { return price(a) + price(b); }"],
	["a constant", "export const price = (n) => n * 10, other = 1; export const total = (a, b) => price(a) + price(b);"],
	[
		"written otherwise",
		"function total(x,y){let sum=price(x);return sum+price(y)}const rate=10;export{price,total};function price(n){return n*rate}",
	],
])("%s that is wrong everywhere is wrong for every caller", async (_, text) => {
	const module = await planted([twice], { "shop.js": text });
	expect([module.price?.(1), module.total?.(1, 2)]).toEqual([20, 60]);
});

it("a function that is wrong within another is right elsewhere", async () => {
	const text = "export function price(n) { return n * 10; } export const total = (list) => list.map(price).concat(price(1)).join();";
	const module = await planted([twiceInTotal], { "shop.js": text });
	expect([module.price?.(1), module.total?.([1, 2])]).toEqual([10, "20,40,20"]);
});

it("an operation of a transaction, a generator, can be wrong", async () => {
	const add = hidden<(n: number) => Generator<number, number>>("add");
	const text = "function* add(n) { return (yield n) + n; } export function* sum(a, b) { return (yield* add(a)) + (yield* add(b)); }";
	const hundredfold = everywhere(
		add,
		(right) =>
			function* (n) {
				return 100 * (yield* right(n));
			},
	);
	const module = await planted([hundredfold], { "sum.js": text });
	const run = module.sum?.(1, 2) as Generator<number, number, number>;
	expect([run.next().value, run.next(5).value, run.next(6).value]).toEqual([1, 2, 1400]);
});

class Counter {
	count = 0;
	add(n: number): void {
		this.count += n;
	}
}

it.each([
	["", "export class Counter { count = 0; add(n) { this.count += n; } two(n) { this.add(n); this.add?.(n); return this.count; } }"],
	[
		" written otherwise",
		"export const Counter=class{count=0;add(by){this.count+=by}two(by){const me=this;me.add(by);me.add(by);return me.count}};",
	],
])("a method%s can be wrong, everywhere or within another", async (_, text) => {
	const everyTime = everywhere(method({ Counter }, "add"), (right) => (n) => right(10 * n));
	const inTwo = within(method({ Counter }, "two" as "add"), method({ Counter }, "add"), (right) => (n) => right(10 * n));
	const result = async (mistake: Mistake) => {
		const { Counter: Planted } = (await planted([mistake], { "counter.js": text })) as unknown as { Counter: typeof Counter };
		const counter = new Planted() as Counter & { two(n: number): number };
		counter.add(1);
		return counter.two(1);
	};
	expect([await result(everyTime), await result(inTwo)]).toEqual([30, 21]);
});

it("a method of an object can be wrong", async () => {
	const gate = { ask: (n: number): number => n };
	const mistake = everywhere(method({ gate }, "ask"), (right) => (n) => right(n) + 1);
	const read = async (text: string) => ((await planted([mistake], { "gate.js": text })).ask as (n: number) => number)(1);
	expect(await read("const gate = { name: 'gate', ask(n) { return n; } }; export const ask = (n) => gate.ask(n);")).toBe(2);
	expect(await read("const gate = { ask: (n) => n }; export const ask = (n) => gate.ask(n);")).toBe(2);
});

it("of several bugs in one engine only the one that is switched on does something", async () => {
	const text = "export function price(n) { return n * 10; } export function total(a, b) { return price(a) + price(b); }";
	const free = everywhere(price, () => () => 0);
	const freeTotal = everywhere(total, () => () => 0);
	const both = async (...mistakes: Mistake[]) => {
		const module = await planted(mistakes, { "shop.js": text });
		return [module.price?.(1), module.total?.(1, 2)];
	};
	expect(await both(free, freeTotal, twiceInTotal)).toEqual([10, 60]);
	expect(await both(free, twiceInTotal, freeTotal)).toEqual([10, 0]);
	expect(await both(freeTotal, twiceInTotal, free)).toEqual([0, 0]);
	expect(await both(freeTotal, twiceInTotal, free, twice)).toEqual([20, 60]);
});

const placesOf = async (mistake: Mistake, files: Record<string, string>) => {
	const { texts, faults } = await plant([bugOf(mistake)], engineOf(files));
	return [...texts.keys(), ...faults];
};

it("of two modules with a function of the same name the one is meant that exports this function", async () => {
	const files = {
		"a.js": "export function price() { return 'a'; }",
		"b.js": "export function price() { return 'b'; }",
		"c.js": "function price() {}",
	};
	const engine = engineOf(files);
	const b = (await import(pathToFileURL(join(engine.folder, "b.js")).href)) as { price: () => string };
	expect([...(await plant([bugOf(everywhere(b.price, (right) => right))], engine)).texts.keys()]).toEqual(["b.js"]);
});

it("a function that is not exported is named by one beside it, where its name is not enough", async () => {
	const files = { "a.js": "function tell() {}", "b.js": "function tell() {} export function price() {}" };
	expect(
		await placesOf(
			everywhere(hidden("tell", { beside: price }), (right) => right),
			files,
		),
	).toEqual(["b.js"]);
});

it.each([
	["the bug: no module of the engine has a function price", twice, { "shop.js": "// price(1)\nconst text = 'price';" }],
	["the bug: total (shop.js) never calls price", twiceInTotal, { "shop.js": "function price() {} function total() { return 7; }" }],
	[
		'the bug: several modules have a function total: a.js, b.js; say which: hidden("total", { beside: … })',
		everywhere(total, (right) => right),
		{ "a.js": "function total() {}", "b.js": "const total = () => {};" },
	],
	[
		"the bug: a.js has no function tell",
		everywhere(hidden("tell", { beside: price }), (right) => right),
		{ "a.js": "export function price() {}" },
	],
] as [string, Mistake, Record<string, string>][])("a bug that does not find its function: %s", async (fault, mistake, files) => {
	expect(await placesOf(mistake, files)).toEqual([fault]);
});

it("a bug's place in words", () => {
	expect([twice, twiceInTotal, everywhere(method({ Counter }, "add"), (right) => right)].map(placeOf)).toEqual([
		"price",
		"price, called by total",
		"Counter.add",
	]);
});
