// Row: a board of 5,000 cards is read once, in proportion to its size; after one change only that card is looked at, however many there are.

import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Source, SourceSettings } from "../../src/contracts/source.ts";
import { localHost } from "../../src/host/local.ts";
import { openCards } from "../../src/sources/cards/index.ts";
import { interleave } from "../interleave.ts";
import { atMost, type Bench, type Row } from "../row.ts";
import { ratio, type Sample } from "../statistics.ts";

/** Boards in folders of their own: a small one, and ten times as many cards. */
const CARDS = { few: 500, many: 5000 };
const PHASES = 5;
const CHANGES = 20;

export const cards: Row = {
	name: "cards",
	title: "Scanning 5,000 cards, and again after one change",
	async run(bench) {
		const sizes = { few: bench.size(CARDS.few, 50), many: bench.size(CARDS.many, 500) };
		const boards = { few: makeBoard(bench, sizes.few), many: makeBoard(bench, sizes.many) };
		try {
			const scan = await interleave(bench, [
				{ name: "few", round: () => timeOf(() => scanAll(boards.few, sizes.few)) },
				{ name: "many", round: () => timeOf(() => scanAll(boards.many, sizes.many)) },
				{ name: "bare", round: () => timeOf(() => readAll(boards.many)) },
			]);
			const again = await interleave(bench, [
				{ name: "few", round: () => afterChanges(boards.few, sizes.few) },
				{ name: "many", round: () => afterChanges(boards.many, sizes.many) },
			]);
			const each = (all: Sample, count: number): Sample => scaled(all, 1000 / count);
			return [
				{
					what: "a card's share of a scan, 5,000 cards ÷ 500",
					bar: atMost(1.5),
					unit: "×",
					measured: ratio(each(scan.many, sizes.many), each(scan.few, sizes.few)),
				},
				{
					what: "from a change to its notice, 5,000 cards ÷ 500",
					bar: atMost(1.5),
					unit: "×",
					measured: ratio(again.many, again.few),
					note: "without the 150 ms that a change is let settle: they would hide everything",
				},
				{ what: "scan of 5,000 cards", unit: "ms", measured: scan.many },
				{ what: "bare reading of the 5,000 files", unit: "ms", measured: scan.bare },
				{ what: "from a change to its notice, 5,000 cards", unit: "ms", measured: again.many },
			];
		} finally {
			for (const root of Object.values(boards)) rmSync(root, { recursive: true, force: true });
		}
	},
};

const scaled = ({ values, median, min, max }: Sample, by: number): Sample => ({
	values: values.map((value) => value * by),
	median: median * by,
	min: min * by,
	max: max * by,
});

function makeBoard(bench: Bench, count: number): string {
	const root = bench.freshFile(`board-${count}`);
	for (let phase = 0; phase < PHASES; phase++) mkdirSync(join(root, `phase-${phase}-p`, "backlog"), { recursive: true });
	const text = `---\nowner: ann\nagent_flow: implement\nagent_status: idle\n---\n# A card\n\n${"What is to be done, in some words.\n".repeat(20)}`;
	for (let n = 0; n < count; n++) writeFileSync(pathOf(root, n), text);
	return root;
}

const pathOf = (root: string, n: number) => join(root, `phase-${n % PHASES}-p`, "backlog", `c${n}-slug.md`);

async function timeOf(act: () => Promise<void>): Promise<number> {
	const start = performance.now();
	await act();
	return performance.now() - start;
}

/** What settles a change is let go at once, all other timers are as usual. */
const host = { ...localHost, after: (ms: number, call: () => void) => localHost.after(ms === 150 ? 0 : ms, call) };
const open = (root: string): Source => openCards("bench", { kind: "cards", root, watch: true } as SourceSettings, { host });

async function scanAll(root: string, count: number): Promise<void> {
	const source = open(root);
	const { items } = await source.scan();
	source.close();
	if (items.length !== count) throw new Error(`${items.length} of ${count} cards`);
}

async function readAll(root: string): Promise<void> {
	for (let phase = 0; phase < PHASES; phase++) {
		const dir = join(root, `phase-${phase}-p`, "backlog");
		const files = await readdir(dir);
		for (let at = 0; at < files.length; at += 32) await Promise.all(files.slice(at, at + 32).map((file) => readFile(join(dir, file))));
	}
}

/** Milliseconds for one, the middle of several. */
async function afterChanges(root: string, count: number): Promise<number> {
	const source = open(root);
	// Watches keep no process alive.
	const release = localHost.after(600_000, () => {}, "hold");
	let heard = (_ids: string[]) => {};
	const next = (id: string | null) =>
		new Promise<void>((resolve) => {
			heard = (ids) => {
				if (id === null || ids.includes(id)) resolve();
			};
		});
	const first = next(null);
	source.watch?.((ids) => heard(ids));
	await first;
	const times: number[] = [];
	for (let change = 0; change < CHANGES; change++) {
		const n = (change * 37) % count;
		const told = next(`c${n}`);
		const start = performance.now();
		appendFileSync(pathOf(root, n), ".");
		await told;
		times.push(performance.now() - start);
	}
	source.close();
	release();
	return times.sort((a, b) => a - b)[CHANGES / 2] as number;
}
