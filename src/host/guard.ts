// Keeps a lease guard process beside the daemon: starts it, renews its lease file, and starts it again when it dies. What the guard does is in
// lease-guard.ts.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { SluiceError } from "../core/errors.ts";
import type { Lease } from "./lease-guard.ts";
import { secret } from "./secret.ts";

export type Guard = ReturnType<typeof openGuard>;

export function openGuard(parts: { program: string; file: string; prefix: string; runs: string; died: () => void }) {
	const { program, file, prefix, runs } = parts;
	const id = secret(9);
	let child: ChildProcess | undefined;
	let over = false;
	if (!existsSync(program)) throw new SluiceError("store", `${program} is not there`, { field: "store", hint: "npm run build makes it" });

	function start(): void {
		// An empty environment: the guard needs none, and must not carry the mark of a run.
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
			// A guard that dies within a second is not restarted at once, but on the next call of `feed`.
			if (uptime() - since > 1) start();
		};
		next.once("exit", gone).once("error", gone);
		next.unref();
	}

	return {
		/** The clock that leases are counted by: uptime in seconds, which goes on while the machine sleeps. */
		now: uptime,
		/** Records that the lease holds until then, in seconds of `now()`. Count from before the request for the lease was sent, not from its answer. */
		feed(until: number, marginMs: number): void {
			const lease: Lease = { id, until, margin: marginMs / 1000 };
			writeFileSync(`${file}.new`, `${JSON.stringify(lease)}\n`, { mode: 0o600 });
			renameSync(`${file}.new`, file);
			if (!child && !over) start();
		},
		/** Deletes the lease file, so that the guard exits: there is nothing left to guard. Without this call the guard stays until the lease has expired. */
		end(): void {
			over = true;
			rmSync(file, { force: true });
		},
	};
}
