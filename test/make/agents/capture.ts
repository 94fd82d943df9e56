// What real agent programs wrote, recorded in test/fixtures/agents/<scenario>/{cmd,stdout,stderr,rc}, and what our adapters make of it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type About, type Judgement, judge } from "../../../src/core/agents/judge.ts";
import type { Format } from "../../../src/core/agents/profile.ts";
import { NOTHING, type Used } from "../../../src/core/agents/stream/happening.ts";
import { createReader } from "../../../src/core/agents/stream/reading.ts";

export const CAPTURES = fileURLToPath(new URL("../../fixtures/agents", import.meta.url));
/** When most of them were made. */
export const THEN = Date.parse("2026-11-15T19:30:00Z");

export type Capture = { name: string; format: Format; stdout: Buffer; stderr: string; code: number };

export function capture(name: string): Capture {
	const at = (file: string) => join(CAPTURES, name, file);
	const rc = existsSync(at("rc")) ? readFileSync(at("rc"), "utf8") : "rc=0";
	const code =
		/rc=(\d+)/.exec(rc)?.[1] ?? /"code":(\d+)/.exec(rc)?.[1] ?? (rc.includes("SIGTERM") ? "143" : rc.includes("SIGINT") ? "130" : "0");
	const format = name.replace(/\d*-.*$/, "") as Format;
	return { name, format, stdout: readFileSync(at("stdout")), stderr: readFileSync(at("stderr"), "utf8"), code: Number(code) };
}

export const captures = (): Capture[] => readdirSync(CAPTURES).sort().map(capture);

export function judged(
	{ format, stdout, stderr, code }: Omit<Capture, "name" | "stdout"> & { stdout: Uint8Array | string },
	about: Partial<About> & { before?: Used | null } = {},
): Judgement {
	const reader = createReader(format);
	reader.push(typeof stdout === "string" ? Buffer.from(stdout) : stdout);
	return judge(format, reader.end(), { code }, { stderr, now: THEN, timezone: "UTC", before: NOTHING, ...about });
}
