// Keeps what a program wrote, as test/fixtures/agents/<scenario>/{cmd,stdout,stderr,rc} has it: `SLUICE_AGENT_RECORD=folder npm run test:agents`.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Told } from "./direct.ts";
import { cacheFolder } from "./install.ts";
import type { Place } from "./place.ts";

export function record(into: string, place: Place, scenario: string, { argv, code, signal, stdout, stderr }: Told): void {
	const folder = join(into, `${place.agent}-${place.version}-${scenario.replaceAll(/\W+/g, "-")}`);
	mkdirSync(folder, { recursive: true });
	// Nothing of this machine in it.
	const plain = (text: string) =>
		text
			.replaceAll(place.folder, "/home/dev")
			.replaceAll(cacheFolder(), "/home/dev/npm")
			.replaceAll(place.api.url, "http://127.0.0.1:8787");
	writeFileSync(join(folder, "cmd"), `${plain(argv.map((word) => (/^[\w./=:-]+$/.test(word) ? word : JSON.stringify(word))).join(" "))}\n`);
	writeFileSync(join(folder, "stdout"), plain(stdout));
	writeFileSync(join(folder, "stderr"), plain(stderr));
	writeFileSync(join(folder, "rc"), `${JSON.stringify({ code, signal })}\n`);
}
