// The dashboard's address with the token that signs in whoever opens it. The token is after the #, which browsers send to nobody.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CliFailure } from "./failure.ts";

export type Look = "operator" | "viewer";
const FILES: Record<Look, string> = { operator: "token", viewer: "viewer-token" };

/** Without a token: the page asks for one. */
export const addressOf = (port: number): string => `http://127.0.0.1:${port}/`;

/** Null without HTTP. */
export function dashboardLink(home: string, port: number | null, look: Look): string | null {
	if (port === null) return null;
	const path = join(home, FILES[look]);
	try {
		return `${addressOf(port)}#token=${readFileSync(path, "utf8").trim()}`;
	} catch (error) {
		throw new CliFailure("store", `the token in ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
	}
}
