// What `sluice add -- true` costs, with a daemon that runs already, over a Node that does nothing at all.

import { runChild } from "../child.ts";
import type { Timed } from "../children/commands.ts";
import { COMMAND, startDaemon } from "../daemon.ts";
import { atMost, type Row } from "../row.ts";
import { ratio, type Sample, sample } from "../statistics.ts";

/** Rounds of the bench times this: single calls are short and uneven. */
const MORE = 8;

export const cli: Row = {
	name: "cli",
	title: "`sluice add -- true` over `node -e 0`",
	async run(bench) {
		const daemon = await startDaemon(bench, "cli", { max_concurrent: 4 });
		try {
			const lines = [
				[process.execPath, COMMAND, "add", "--home", daemon.home, "--", "true"],
				[process.execPath, "-e", "0"],
				[process.execPath, COMMAND, "--version"],
			];
			const found = await runChild<Timed[]>("commands", [String(bench.rounds * MORE), JSON.stringify(lines)]);
			const [add, nothing, version] = found.map(({ ms }) => sample(ms)) as [Sample, Sample, Sample];
			const [addCpu, nothingCpu] = found.map(({ cpuMs }) => sample([cpuMs])) as [Sample, Sample];
			return [
				{ what: "sluice add -- true ÷ node -e 0, wall", bar: atMost(1.5), unit: "×", measured: ratio(add, nothing) },
				{ what: "sluice add -- true ÷ node -e 0, processor", unit: "×", measured: ratio(addCpu, nothingCpu) },
				{ what: "sluice --version ÷ node -e 0, wall", unit: "×", measured: ratio(version, nothing) },
				{ what: "sluice add -- true", unit: "ms", measured: add },
				{ what: "node -e 0", unit: "ms", measured: nothing },
			];
		} finally {
			await daemon.stop();
		}
	},
};
