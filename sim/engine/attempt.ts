// One call of the engine and what became of it: a result, an error, or a death on the way.

import { SluiceError } from "../../src/core/errors.ts";
import type { Seen } from "../model/agree.ts";
import { type Call, perform } from "./call.ts";
import { patiently } from "./patiently.ts";
import { Crash, type Engine } from "./world.ts";

export type Outcome = { result: unknown } | { error: NonNullable<Seen["error"]>; raw: unknown } | "died";

export async function attempt(engine: Engine, call: Call): Promise<Outcome> {
	const work = perform(engine.scheduler, call).then(
		(result): Outcome => ({ result }),
		(raw: unknown): Outcome => ({ error: describe(raw), raw }),
	);
	const died = engine.life.ended.then((): Outcome => "died");
	const outcome = await patiently(Promise.race([work, died]), call.method);
	return engine.life.over ? "died" : outcome;
}

/** The store refused, as it may when a fault was planned. */
export const isStoreTrouble = (outcome: Outcome) =>
	outcome !== "died" && "error" in outcome && (["store", "closed", "unknown"].includes(outcome.error.code) || outcome.raw instanceof Crash);

export function describe(raw: unknown): NonNullable<Seen["error"]> {
	if (raw instanceof SluiceError) return { code: raw.code, message: raw.message };
	const text = raw instanceof Error ? `${raw.name}: ${raw.message}\n${raw.stack?.split("\n").slice(1, 4).join("\n")}` : String(raw);
	return { code: "unknown", message: text };
}
