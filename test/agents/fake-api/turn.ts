// What the fake API can be told to answer, in words that fit every provider, and what each provider's dialect has to say about them.

/** Tokens of one answer, disjoint: `input` is what was neither read from nor written to a cache, `output` includes the reasoning. */
export type Handed = { input: number; cacheRead: number; cacheWrite: number; output: number; reasoning: number };

export const NOTHING: Handed = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
export const USUAL: Handed = { input: 400, cacheRead: 300, cacheWrite: 0, output: 50, reasoning: 0 };

export function sum(parts: Handed[]): Handed {
	const total = { ...NOTHING };
	for (const part of parts) for (const key of Object.keys(total) as (keyof Handed)[]) total[key] += part[key];
	return total;
}

export type Failure =
	/** Too many requests; try again in so many seconds. */
	| { fail: "throttled"; retryAfterS?: number }
	/** The subscription's quota is used up, from when this is first answered, for so many seconds. */
	| { fail: "limited"; resetsInS: number }
	| { fail: "overloaded" }
	| { fail: "unavailable" }
	| { fail: "internal" }
	| { fail: "auth" }
	| { fail: "billing" }
	| { fail: "context" };

export type Turn =
	| { say: string; usage?: Handed }
	/** The program's shell tool, with this command. */
	| { shell: string; usage?: Handed }
	/** The program's own tool for writing files; its shell where it has none. */
	| { write: string; content: string; usage?: Handed }
	/** A tool of the run's own MCP server, by the name that the server gives it. Programs begin before their servers are there: they look around until it is offered. */
	| { mcp: string; input: Record<string, unknown>; usage?: Handed }
	/** A tool that was offered, by its name. */
	| { tool: string; input: Record<string, unknown>; usage?: Handed }
	/** The request is taken and never answered: not a byte is sent, or the first half of an answer. */
	| { hang: "silent" | "midway" }
	/** The connection is cut: before an answer, in the middle of one, or in the middle of one as if that were all of it. */
	| { drop: "at_once" | "midway" | "short" }
	| Failure;

/** A request as a dialect has understood it. */
export type Asked = {
	/** Whose: the key that came with it. */
	key: string;
	model: string;
	/** Housekeeping of the program (a title, a count), which no script should be spent on. */
	side: boolean;
	body: Record<string, unknown>;
};

/** A call that a turn makes: the tool as it was offered, and what it is called with. */
export type Call = { name: string; input: Record<string, unknown> };

/** A tool as a program offers it. */
export type Offered = { name: string; properties: Record<string, unknown> };

export type Reply = { status: number; headers?: Record<string, string>; body: string };

/** One provider's way of talking. */
export type Dialect = {
	name: "anthropic" | "responses" | "gemini" | "chat";
	/** Nothing if the path is not this provider's. */
	read(request: { method: string; path: string; headers: Record<string, string>; body: string }): Asked | undefined;
	say(asked: Asked, text: string, usage: Handed, id: number): Reply;
	tool(asked: Asked, name: string, input: Record<string, unknown>, usage: Handed, id: number): Reply;
	/** The tools that came with the request. */
	offered(asked: Asked): Offered[];
	/** The tool that runs shell commands, as the program offers it, and what it is called with. */
	shell(asked: Asked, command: string): Call;
	/** `resetsAt`: when the quota that is used up comes back, unix seconds. */
	fail(failure: Failure, resetsAt: number): Reply;
};

export const SSE = { "content-type": "text/event-stream", "cache-control": "no-cache" };
export const JSON_TYPE = { "content-type": "application/json" };

export const jsonReply = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
	status,
	headers: { ...JSON_TYPE, ...headers },
	body: JSON.stringify(body),
});

/** Server-sent events; each has the name of its type where a provider gives names. */
export const eventsReply = (events: { type?: string }[]): Reply => ({
	status: 200,
	headers: SSE,
	body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
});

export const retryAfter = (seconds: number | undefined): Record<string, string> =>
	seconds === undefined ? {} : { "retry-after": String(seconds) };

export function parse(body: string): Record<string, unknown> {
	try {
		return JSON.parse(body) as Record<string, unknown>;
	} catch {
		return {};
	}
}

/**
 * The shell tool that was offered, and what its command argument is called. Some programs take it away where it is not allowed: `usual` is what they call it,
 * and a model that remembers it calls it all the same.
 */
export function shellTool(offered: Offered[], usual: string): { name: string; argument: "cmd" | "command" } {
	const found = offered.find(({ name }) => /^(bash|exec_command|shell_command|shell|run_shell_command)$/i.test(name));
	if (!found) return { name: usual, argument: "command" };
	return { name: found.name, argument: "cmd" in found.properties ? "cmd" : "command" };
}

/** The tool that writes files, where one was offered. */
export function writeTool(offered: Offered[], path: string, content: string): Call | undefined {
	const found = offered.find(({ name }) => /^(write|write_file)$/i.test(name));
	return found && { name: found.name, input: { ["filePath" in found.properties ? "filePath" : "file_path"]: path, content } };
}

/** A tool of the run's own server: programs put the server's name before it, each in its way. */
export function serverTool(offered: Offered[], name: string): string | undefined {
	const found = offered.find((tool) => tool.name === name || tool.name.endsWith(`_${name}`))?.name;
	// Claude Code offers a search instead of its servers' tools; they can be called all the same.
	return found ?? (offered.some((tool) => tool.name === "ToolSearch") ? `mcp__sluice__${name}` : undefined);
}

/** A tool that only looks, where one was offered: every permission mode allows it. */
export function lookTool(offered: Offered[]): Call | undefined {
	const found = offered.find(({ name }) => /^(glob|list_directory)$/i.test(name));
	return found && { name: found.name, input: "dir_path" in found.properties ? { dir_path: "." } : { pattern: "*" } };
}
