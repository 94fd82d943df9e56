// The methods of a connection and of the dashboard page: who they are.

import type { Doc } from "../documents.ts";
import { adminMethod, choice, maybe, text, viewerMethod } from "../fields.ts";

export const SESSION_METHODS = {
	"session.auth": viewerMethod<Doc<{ role: string; by: string; job: number | null }>>()({
		about: "On the socket: from now on this connection may do only what the token allows. Runs do it with SLUICE_TOKEN.",
		params: { token: text("a viewer's, an operator's or a run's token", 1000) },
		result: "{role, by, job}",
	}),
	"session.code": adminMethod<Doc<{ code: string; role: "admin" | "operator" | "viewer"; expires_at: string; port: number | null }>>()({
		about:
			"A code that signs the dashboard page in once, within ten minutes: `http://127.0.0.1:<port>/#code=<code>` is the link. The page exchanges it at `POST /sign-in`.",
		params: { role: maybe(choice("what the page may do (admin)", ["admin", "operator", "viewer"])) },
		result: "{code, role, expires_at, port}",
	}),
} as const;
