// Installs the daemon as a service of the user: a systemd unit on Linux, a launchd agent on macOS. Runs must outlive the daemon, so both are set to leave
// child processes alone.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { NODE_FLAGS } from "../../api/daemon-process.ts";
import { SluiceError } from "../../core/errors.ts";
import { writeWhole } from "./write-file.ts";

export type Installation = { home: string; port?: number | null | undefined; node: string; program: string; path: string };
export type ServiceFile = { path: string; text: string; commands: string[][] };

/** The file to write, its place, and the commands that start the service. */
export function serviceFile(platform: NodeJS.Platform, userHome: string, it: Installation): ServiceFile {
	const argv = [it.node, ...NODE_FLAGS, it.program, "--home", it.home];
	if (platform === "linux") {
		const path = join(userHome, ".config", "systemd", "user", "sluice.service");
		return {
			path,
			text: unit(argv, it),
			commands: [
				["systemctl", "--user", "daemon-reload"],
				["systemctl", "--user", "enable", "--now", "sluice.service"],
			],
		};
	}
	if (platform === "darwin") {
		const path = join(userHome, "Library", "LaunchAgents", "dev.sluice.plist");
		return { path, text: plist(argv, it), commands: [["launchctl", "load", "-w", path]] };
	}
	throw new SluiceError("invalid", `no services on ${platform}`, { hint: "on Windows, use WSL2" });
}

/** The port is set by a variable, not by an option: if it is taken at boot, the service then uses the next free one instead of failing to start. */
const variablesOf = ({ path, port }: Installation): [name: string, value: string][] => [
	["PATH", path],
	...(port === undefined ? [] : ([["SLUICE_PORT", String(port)]] as [string, string][])),
];

function unit(argv: readonly string[], it: Installation): string {
	return `# The Sluice scheduler, as a service of this user. Written by \`sluice up --install\`.
[Unit]
Description=Sluice, the scheduler for coding agents
Documentation=man:systemd.service(5)

[Service]
Type=exec
ExecStart=${argv.map(quotedWord).join(" ")}
ExecReload=/bin/kill -HUP $MAINPID
${variablesOf(it)
	.map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`)
	.join("\n")}
# Only the daemon is stopped: what runs goes on behind its shims, and is found again by the next daemon.
KillMode=process
TimeoutStopSec=120
Restart=on-failure
RestartSec=2

[Install]
WantedBy=default.target
`;
}

/** Quotes a word for systemd: backslashes and quotes escaped, `%` doubled. In commands, `$` is special, too. */
const quoted = (word: string) => `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("\n", "\\n")}"`;
const quotedWord = (word: string) => quoted(word).replaceAll("$", "$$$$");

function plist(argv: readonly string[], it: Installation): string {
	const string = (text: string) => `<string>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")}</string>`;
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- The Sluice scheduler, as a service of this user. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>dev.sluice</string>
	<key>ProgramArguments</key>
	<array>
${argv.map((word) => `\t\t${string(word)}`).join("\n")}
	</array>
	<key>EnvironmentVariables</key>
	<dict>
${variablesOf(it)
	.map(([name, value]) => `\t\t<key>${name}</key>\n\t\t${string(value)}`)
	.join("\n")}
	</dict>
	<!-- Only the daemon is stopped: what runs goes on behind its shims. -->
	<key>AbandonProcessGroup</key>
	<true/>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>StandardErrorPath</key>
	${string(join(it.home, "daemon.log"))}
</dict>
</plist>
`;
}

/** Writes the file and starts the service. Returns what was done, and what is left to the user. */
export function installService(platform: NodeJS.Platform, userHome: string, it: Installation, run = runQuietly): string[] {
	const { path, text, commands } = serviceFile(platform, userHome, it);
	mkdirSync(dirname(path), { recursive: true });
	writeWhole(path, text, 0o644);
	const said = [`wrote ${path}`];
	for (const command of commands) {
		const trouble = run(command);
		if (trouble !== null) return [...said, `${command.join(" ")} failed: ${trouble}`, `the file is there; run it yourself when you can`];
		said.push(command.join(" "));
	}
	if (platform === "linux") said.push("to keep it running without a login: loginctl enable-linger");
	return said;
}

function runQuietly([program = "", ...args]: string[]): string | null {
	try {
		execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"], timeout: 30_000 });
		return null;
	} catch (error) {
		const { stderr, message } = error as { stderr?: Buffer; message: string };
		return stderr?.toString().trim().split("\n")[0] || message.split("\n")[0] || "unknown";
	}
}
