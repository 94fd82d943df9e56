// The text of service files: quoted for systemd and launchd, and set to leave child processes alone.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { installService, serviceFile } from "./install.ts";

const it = {
	home: '/home/a b/50%/$x"y',
	port: 7500,
	node: "/usr/bin/node",
	program: "/opt/sluice/dist/daemon-main.js",
	path: "/usr/bin:/bin",
};

test("systemd: words in quotes, its own marks escaped, runs survive a stop", () => {
	const { path, text, commands } = serviceFile("linux", "/home/a", it);
	expect(path).toBe("/home/a/.config/systemd/user/sluice.service");
	expect(text).toContain(
		'ExecStart="/usr/bin/node" "--max-semi-space-size=4" "/opt/sluice/dist/daemon-main.js" "--home" "/home/a b/50%%/$$x\\"y"\n',
	);
	expect(text).toContain("KillMode=process\n");
	expect(text).toContain('Environment="PATH=/usr/bin:/bin"\nEnvironment="SLUICE_PORT=7500"\n');
	expect(commands.at(-1)).toEqual(["systemctl", "--user", "enable", "--now", "sluice.service"]);
});

test("launchd: XML, and the same promise", () => {
	const { path, text } = serviceFile("darwin", "/Users/a", { ...it, home: "/Users/a/<&>", port: null });
	expect(path).toBe("/Users/a/Library/LaunchAgents/dev.sluice.plist");
	expect(text).toContain("<string>/Users/a/&lt;&amp;&gt;</string>");
	expect(text).toContain("<key>SLUICE_PORT</key>\n\t\t<string>null</string>");
	expect(text).toMatch(/<key>AbandonProcessGroup<\/key>\s*<true\/>/);
	expect(() => serviceFile("win32", "C:\\", it)).toThrow(/no services on win32/);
});

test("is written and started; a failing command is reported, and the file stays", () => {
	const home = makeFolder();
	const ran: string[][] = [];
	const said = installService("linux", home, it, (command) => {
		ran.push(command);
		return ran.length === 1 ? null : "no bus";
	});
	const path = join(home, ".config/systemd/user/sluice.service");
	expect(readFileSync(path, "utf8")).toContain("[Service]");
	expect(said).toEqual([
		`wrote ${path}`,
		"systemctl --user daemon-reload",
		"systemctl --user enable --now sluice.service failed: no bus",
		"the file is there; run it yourself when you can",
	]);
});
