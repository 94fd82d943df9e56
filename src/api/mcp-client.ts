// What `sluice mcp` passes to the server of src/mcp/, a separate program: the connection to the daemon, and the folder and environment of the caller.

import type { MethodName, Result } from "./protocol.ts";

export type ToolDocument = Record<string, unknown>;

export type McpClient = {
	/** Returns the result. Rejects with an error that has `code`, `message` and perhaps `hint` and `field`. */
	call<M extends MethodName>(method: M, params: ToolDocument): Promise<Result<M>>;
	/** The job of the run that started this server. */
	readonly job: number | undefined;
	/** The folder of a new job: the given one, relative to the caller's folder; else the caller's folder. */
	folder(given: string | undefined): string;
	/** The variables that a new job takes along, as the setting `env` allows. */
	environment(): Promise<Record<string, string>>;
	/** An agent's JSON lines as text; `output` names the format. Lines of no known event stay as they are. */
	rendered(output: string, text: string): string;
	/** JSON functions that preserve payloads exactly; passed in, so that both sides use the same `JsonText`. */
	readJson(text: string): unknown;
	writeJson(value: unknown): string;
	readonly version: string;
};

export type McpModule = { serve(client: McpClient, offered: "all" | "run"): Promise<void> };
