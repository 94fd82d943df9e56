// Which operations meet a fault, and which one.

import type { Fault, Op } from "../operation.ts";
import type { Random } from "../random.ts";
import type { Theme, Themes } from "./themes.ts";

/** Nothing to fail in. */
export const NEVER: readonly Op["kind"][] = ["advance", "crash", "look", "together", "fact", "die", "overtake", "usurp", "poison"];

export function drawFault(random: Random, themes: Themes, op: Op): void {
	if (NEVER.includes(op.kind)) return;
	const crash = themes.has("crashes") && random.chance(op.kind === "apply" ? 0.3 : 0.06);
	const disk = !crash && themes.has("disk") && random.chance(0.08);
	if (crash) {
		const looks = ["artifacts", "heads", "conditions", "items"].some((theme) => themes.has(theme as Theme));
		const point: Fault["point"] = random.weighted({ begin: 2, flush: 3, commit: 3, committed: 4, probe: looks ? 4 : 0, turn: 1 });
		// A manifest that goes in by stages can be cut off in many places.
		op.fault = { kind: "crash", point, nth: op.kind === "apply" ? random.between(1, 6) : random.pick([1, 1, 1, 2, 3]) };
	} else if (disk) {
		const kind = random.pick(["full", "busy"] as const);
		op.fault = {
			kind,
			point: kind === "busy" ? random.pick(["begin", "commit"]) : random.pick(["flush", "commit"]),
			nth: random.pick([1, 1, 2]),
		};
	}
}
