// Rows that are folded or wrapped take their places, and every line is of one row.

import fc from "fast-check";
import { expect, test } from "vitest";
import { cellsOf, indexOfPlace, layoutOf, lineOfRow, placeOf, rowAtLine } from "./layout.ts";
import { hashOf, lineLinkOf } from "./line-link.ts";
import { type LogRow, rowsOf } from "./rows.ts";

const rows = (text: string) => rowsOf({ text, parts: [], isWithin: false, goesOn: "no" }, "raw");
const shape = { columns: null, toggled: new Set<string>(), tools: "open", seen: new WeakMap<LogRow, number>() } as const;
const visible = (text: string, toggled: string[], tools: "open" | "folded" = "open", kinds: LogRow["kind"][] = []) => {
	const all = rows(text).map((row, n) => ({
		...row,
		kind: kinds[n] ?? row.kind,
		fold: kinds[n] === "tool" ? ("tool" as const) : row.fold,
	}));
	const layout = layoutOf([{ index: 3, rows: all }], { ...shape, toggled: new Set(toggled), tools });
	return all.filter((_, n) => lineOfRow(layout, n + 1) > lineOfRow(layout, n)).map((row) => row.text);
};

test("a folded section hides up to its end, one within it too; a head up to the next head", () => {
	const text = "a\n::group::G\nb\n::group::H\nc\n::endgroup::\nd\n::endgroup::\ne\n--- X\nf\n--- Y\ng\n";
	expect(visible(text, ["3:1"])).toEqual(["a", "G", "e", "--- X", "f", "--- Y", "g"]);
	expect(visible(text, ["3:3", "3:9"])).toEqual(["a", "G", "b", "H", "d", "", "e", "--- X", "--- Y", "g"]);
});

test("tools fold their results: all of them, or all but one", () => {
	const text = "say\n▸ Bash ls\n  a\n  b\nsay\n▸ Read x\n  c\nend\n";
	const kinds: LogRow["kind"][] = ["", "tool", "aside", "aside", "", "tool", "aside", ""];
	expect(visible(text, [], "folded", kinds)).toEqual(["say", "▸ Bash ls", "say", "▸ Read x", "end"]);
	expect(visible(text, ["3:1"], "folded", kinds)).toEqual(["say", "▸ Bash ls", "  a", "  b", "say", "▸ Read x", "end"]);
	expect(visible(text, ["3:5"], "open", kinds)).toEqual(["say", "▸ Bash ls", "  a", "  b", "say", "▸ Read x", "end"]);
});

test("every line is of one row, and every row is found again", () => {
	const line = fc.oneof(fc.string({ maxLength: 90 }), fc.constantFrom("::group::x", "::endgroup::", "--- y", "日本語".repeat(20), "\t\tx"));
	fc.assert(
		fc.property(
			fc.array(fc.array(line, { maxLength: 20 }), { minLength: 1, maxLength: 4 }),
			fc.option(fc.integer({ min: 5, max: 50 })),
			fc.nat(9),
			(texts, columns, fold) => {
				const blocks = texts.map((lines, n) => ({ index: n + 5, rows: rows(lines.join("\n")) }));
				const layout = layoutOf(blocks, { ...shape, columns, toggled: new Set([`5:${fold}`, `6:${fold}`]) });
				for (let at = 0; at < layout.total; at++) {
					const row = rowAtLine(layout, at);
					expect(lineOfRow(layout, row) <= at && at < lineOfRow(layout, row + 1)).toBe(true);
				}
				for (let row = 0; row < layout.count; row++) {
					const place = placeOf(layout, row);
					expect(place && indexOfPlace(layout, place)).toBe(row);
				}
				expect(placeOf(layout, layout.count)).toBeNull();
			},
		),
	);
});

test("widths, and lines in the address", () => {
	expect(["abc", "日本", "a\tb", ""].map(cellsOf)).toEqual([3, 4, 10, 0]);
	for (const hash of ["#L1", "#L3-L20", "#stderr-L4", "#stdout-raw-L1-L2", "#raw-L9"])
		expect(hashOf(lineLinkOf(hash) ?? { from: 0, to: 0, stream: "both", as: "shown" })).toBe(hash);
	expect(lineLinkOf("#L9-L3")).toMatchObject({ from: 3, to: 9 });
	expect(["#L0", "#L", "#code=x", "", "#Lx", "#L1e9", "#L99999999999999"].map(lineLinkOf)).toEqual(Array(7).fill(null));
});
