// The demo at three times its pace: it keeps what it promises, or says so with its exit code, and leaves nothing behind.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { expect, onTestFinished, test } from "vitest";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

test("the demo plays to its end", { timeout: 60_000 }, () => {
	// A package of our own, so that nobody's build comes in between.
	const folder = mkdtempSync(join(tmpdir(), "sluice-shown-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version: "0.0.0" }));
	buildSync({
		entryPoints: { demo: join(ROOT, "scripts/demo.ts"), "daemon-main": join(ROOT, "src/daemon/main.ts") },
		outdir: join(folder, "dist"),
		bundle: true,
		platform: "node",
		format: "esm",
		target: "node20",
		packages: "external",
		logLevel: "silent",
	});
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "dist/demo.js"), "--pace", "0.3"], {
		encoding: "utf8",
		env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
	});
	expect([status, stderr]).toEqual([0, ""]);
	expect(stdout).toMatch(/^Ran {8}11 of 12 jobs succeeded/m);
	expect(stdout).toMatch(/^Survived[\s\S]*\sfound\s+them\s+again/m);
	const [, runs, alive, ended, lost] = (/of (\d+) runs it found (\d+) alive, (\d+) ended, (\d+) lost/.exec(stdout) ?? []).map(Number);
	expect([(alive ?? 0) + (ended ?? 0), lost]).toEqual([runs, 0]);
	expect(stdout.match(/found again, not started again/g)?.length ?? 0).toBe(alive);
	expect(readdirSync(folder).filter((name) => name.startsWith("sluice-demo-"))).toEqual([]);
});
