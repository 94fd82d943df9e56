// Keeps a lease guard beside this process: starts it, feeds it, starts it again should it die. What it does is in lease-guard.ts.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { SluiceError } from "../core/errors.ts";
import type { Lease } from "./lease-guard.ts";
import { secret } from "./secret.ts";

export type Guard = {
	/** The clock that leases are counted by: seconds, going on while the machine sleeps. */
	now(): number;
	/** The lease holds until then. Who began to ask for it before, may count from when he began. */
	feed(until: number, marginMs: number): void;
	/** Nothing is left to guard. Otherwise it stays until somebody feeds it again, or the lease is over. */
	end(): void;
};

export function openGuard(parts: { program: string; file: string; prefix: string; runs: string; died: () => void }): Guard {
	const { program, file, prefix, runs } = parts;
	const id = secret(9);
	let child: ChildProcess | undefined;
	let over = false;
	if (!existsSync(program)) throw new SluiceError("store", `${program} is not there`, { field: "store", hint: "npm run build makes it" });

	function start(): void {
		// Nothing of our environment: it needs none, and must not look like one of the runs.
		const next = spawn(process.execPath, ["--max-semi-space-size=1", program, file, id, prefix, runs], {
			cwd: "/",
			env: {},
			stdio: "ignore",
			detached: true,
		});
		child = next;
		const since = uptime();
		const gone = () => {
			if (child === next) child = undefined;
			if (over) return;
			parts.died();
			// One that cannot live is tried again when it is fed.
			if (uptime() - since > 1) start();
		};
		next.once("exit", gone).once("error", gone);
		next.unref();
	}

	return {
		now: uptime,
		feed(until, marginMs) {
			const lease: Lease = { id, until, margin: marginMs / 1000 };
			writeFileSync(`${file}.new`, `${JSON.stringify(lease)}\n`, { mode: 0o600 });
			renameSync(`${file}.new`, file);
			if (!child && !over) start();
		},
		end() {
			over = true;
			rmSync(file, { force: true });
		},
	};
}
