// The page about a fleet's load counts with constants of the source: compared.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

test("docs/fleet-load.md has the constants as they are in the source", () => {
	const rows = [...read("docs/fleet-load.md").matchAll(/^\| `([A-Z_]+)` \| `([\w./-]+)` \| ([\d,]+)/gm)];
	expect(rows.length).toBeGreaterThan(10);
	const written = rows.map(([, name, , value = ""]) => [name, Number(value.replaceAll(",", ""))]);
	const real = rows.map(([, name, path = ""]) => {
		const value = new RegExp(`^const ${name} = ([\\d_]+);`, "m").exec(read(path))?.[1] ?? "";
		return [name, Number(value.replaceAll("_", ""))];
	});
	expect(written).toEqual(real);
});
