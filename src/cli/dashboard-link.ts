// The dashboard's address, and the link that signs a page in: its code is valid once and for minutes, and follows the #, which browsers do not send.

import { codeOf } from "../core/errors.ts";
import { CliFailure } from "./failure.ts";
import type { Io } from "./io.ts";

/** Without a code: the page says how to get a link. */
export const addressOf = (port: number): string => `http://127.0.0.1:${port}/`;

export const signInLink = (port: number, code: string): string => `${addressOf(port)}#code=${code}`;

/** A code for such a link. An older daemon cannot issue one. */
export async function codeFor(io: Io, role: "admin" | "operator" | "viewer"): Promise<{ code: string; expires_at: string }> {
	try {
		return await io.ask("session.code", { role });
	} catch (error) {
		if (codeOf(error) !== "unknown_method") throw error;
		throw new CliFailure(
			"conflict",
			"the daemon is of an earlier version, which knows no sign-in links",
			"sluice down && sluice up --detach, then this command again: what runs goes on",
		);
	}
}
