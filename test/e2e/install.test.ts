// The ways in that README.md names: `npm start` in a checkout, and the package that `npm pack` makes.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

function makeFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "sluice-install-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
	return folder;
}

const environment = (folder: string) => ({
	PATH: process.env.PATH,
	HOME: folder,
	TMPDIR: folder,
	SLUICE_HOME: join(folder, "home"),
	SLUICE_PORT: "0",
});

test("npm start runs the daemon in the foreground, prints the address of its page, and ends with Ctrl-C", async () => {
	const folder = makeFolder();
	const child = spawn("npm", ["--silent", "start"], {
		cwd: ROOT,
		env: environment(folder),
		detached: true,
		stdio: ["ignore", "pipe", "pipe"],
	});
	let said = "";
	// npm itself ends by the signal; the pipes close when the daemon has ended, too.
	const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
	const address = await new Promise<string>((resolve, reject) => {
		for (const stream of [child.stdout, child.stderr])
			stream.on("data", (chunk) => {
				said += chunk;
				const found = /dashboard: (http:\S+) \(sluice open prints/.exec(said)?.[1];
				if (found) resolve(found);
			});
		child.on("close", () => reject(new Error(`npm start ended without an address: ${said}`)));
	});
	const page = await fetch(address);
	expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
	expect(await page.text()).toContain("<title>Sluice</title>");
	// Ctrl-C reaches every process of the terminal's group.
	process.kill(-(child.pid as number), "SIGINT");
	await ended;
	expect(readFileSync(join(folder, "home/daemon.log"), "utf8")).toMatch(/ stopped left=0\n$/);
});

test("the packed tarball has all that the command, the daemon, the page and the library need, and no test", () => {
	const folder = makeFolder();
	const packed = spawnSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd: ROOT, encoding: "utf8" });
	const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
	expect(files.filter(({ path }) => /\.test\./.test(path))).toEqual([]);
	expect(spawnSync("tar", ["-xzf", join(folder, filename), "-C", folder]).status).toBe(0);
	// As npm would install it: beside its dependencies, and none of the packages that only development needs.
	const place = join(folder, "node_modules");
	const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { dependencies: Record<string, string> };
	for (const name of [...Object.keys(dependencies), ...needs(Object.keys(dependencies))]) {
		mkdirSync(dirname(join(place, name)), { recursive: true });
		symlinkSync(join(ROOT, "node_modules", name), join(place, name));
	}
	symlinkSync(join(folder, "package"), join(place, "sluice"));
	const sluice = (...args: string[]) => {
		const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "package/bin/sluice.js"), ...args], {
			cwd: folder,
			env: environment(folder),
			encoding: "utf8",
		});
		return { status, stdout, stderr };
	};
	onTestFinished(() => void sluice("down", "--stop-runs"));
	expect(sluice("add", "--wait", "--", "echo", "hello")).toMatchObject({ status: 0, stdout: "1\n" });
	expect(sluice("logs", "1")).toMatchObject({ status: 0, stdout: "hello\n" });
	expect(sluice("open").stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=\S+\n$/);
	const library = `import { openScheduler } from "sluice"; const s = await openScheduler({ path: "library.db" }); console.log(typeof s.add); await s.close();`;
	const used = spawnSync(process.execPath, ["--input-type=module", "-e", library], { cwd: folder, encoding: "utf8" });
	expect([used.stdout, used.stderr]).toEqual(["function\n", ""]);
});

/** The packages that these packages need, and so on. */
function needs(names: string[], found = new Set<string>()): string[] {
	for (const name of names) {
		const manifest = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8")) as {
			dependencies?: Record<string, string>;
		};
		const more = Object.keys(manifest.dependencies ?? {}).filter((one) => !found.has(one) && !names.includes(one));
		for (const one of more) found.add(one);
		needs(more, found);
	}
	return [...found];
}
