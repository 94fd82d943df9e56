// A fake of four providers' APIs on loopback: hands out scripted turns to each key, and remembers what was asked and what it handed out.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import {
	type Asked,
	type Call,
	type Dialect,
	type Handed,
	lookTool,
	NOTHING,
	type Reply,
	serverTool,
	sum,
	type Turn,
	USUAL,
	writeTool,
} from "./turn.ts";

const DIALECTS: readonly Dialect[] = [anthropic, responses, gemini, chat];

/** One request that was answered from a script, or for housekeeping. */
export type Served = { at: number; dialect: Dialect["name"]; asked: Asked; turn: Turn; usage: Handed };

type CallTurn = Exclude<Extract<Turn, { usage?: Handed }>, { say: string }>;

/** How many requests may come without a server's tool, before it is called all the same. */
const PATIENCE = 20;

export class FakeApi {
	readonly served: Served[] = [];
	/** Requests that fit no dialect, or were meant for elsewhere: method and path. */
	readonly strange: string[] = [];
	private readonly scripts = new Map<string, { turns: Turn[]; then: Turn; patience: number }>();
	/** Quotas that are used up: when each comes back, unix seconds. */
	private readonly windows = new Map<string, { resetsAt: number; turn: Turn }>();
	private count = 0;

	private constructor(
		private readonly server: Server,
		readonly port: number,
	) {}

	static async open(): Promise<FakeApi> {
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const api = new FakeApi(server, (server.address() as AddressInfo).port);
		server.on("request", (request, response) => void api.serve(request, response));
		// As a proxy it lets nothing through: whoever would leave loopback is refused, and told of.
		server.on("connect", (request, socket) => {
			api.strange.push(`CONNECT ${request.url}`);
			// Some hang up at once.
			socket.on("error", () => {});
			socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
		});
		return api;
	}

	get url(): string {
		return `http://127.0.0.1:${this.port}`;
	}

	/** What a key is answered, one turn a request; afterwards `then`, for ever. */
	script(key: string, turns: Turn[], then: Turn = { say: "done" }): void {
		this.scripts.set(key, { turns: [...turns], then, patience: PATIENCE });
	}

	/** When the key's quota comes back, epoch milliseconds; of the last time that it was used up. */
	resetOf(key: string): number {
		return (this.windows.get(key)?.resetsAt ?? 0) * 1000;
	}

	/** The quota comes back now. */
	reset(key: string): void {
		this.windows.delete(key);
	}

	/** All that a key was handed, housekeeping included. */
	handed(key: string): Handed {
		return sum(this.of(key).map(({ usage }) => usage));
	}

	/** Requests of a key that were turns of its script. */
	turnsOf(key: string): Served[] {
		return this.of(key).filter(({ asked }) => !asked.side);
	}

	private of(key: string): Served[] {
		return this.served.filter(({ asked }) => asked.key === key);
	}

	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise<void>((resolve) => this.server.close(() => resolve()));
	}

	private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const method = request.method ?? "";
		const path = request.url ?? "";
		const heard = { method, path, headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString("utf8") };
		for (const dialect of DIALECTS) {
			const asked = dialect.read(heard);
			if (asked) return this.answer(dialect, asked, response);
		}
		if (method !== "HEAD") this.strange.push(`${method} ${path}`);
		send(response, { status: method === "HEAD" ? 200 : 404, body: "" });
	}

	private answer(dialect: Dialect, asked: Asked, response: ServerResponse): void {
		const id = ++this.count;
		const at = Date.now();
		const turn = asked.side ? { say: "A title", usage: NOTHING } : this.next(asked.key, at);
		const usage = "fail" in turn || "hang" in turn || "drop" in turn ? NOTHING : (turn.usage ?? USUAL);
		this.served.push({ at, dialect: dialect.name, asked, turn, usage });
		if ("fail" in turn) send(response, dialect.fail(turn, this.resetOf(asked.key) / 1000));
		else if ("say" in turn) send(response, dialect.say(asked, turn.say, usage, id));
		else if ("hang" in turn || "drop" in turn) {
			const half = dialect.say(asked, "This is the first half of a sentence that", usage, id);
			if ("drop" in turn) cutOff(response, turn.drop, half);
			else if (turn.hang === "midway") sendHalf(response, half);
		} else {
			const { name, input } = this.callOf(dialect, asked, turn);
			send(response, dialect.tool(asked, name, input, usage, id));
		}
	}

	private callOf(dialect: Dialect, asked: Asked, turn: CallTurn): Call {
		if ("tool" in turn) return { name: turn.tool, input: turn.input };
		if ("shell" in turn) return dialect.shell(asked, turn.shell);
		const offered = dialect.offered(asked);
		if ("write" in turn)
			return writeTool(offered, turn.write, turn.content) ?? dialect.shell(asked, `printf %s '${turn.content}' > '${turn.write}'`);
		const name = serverTool(offered, turn.mcp);
		if (name !== undefined) return { name, input: turn.input };
		const script = this.scripts.get(asked.key);
		if (script === undefined || script.patience-- <= 0) return { name: `no_${turn.mcp}_was_offered`, input: {} };
		script.turns.unshift(turn);
		return lookTool(offered) ?? dialect.shell(asked, "sleep 1");
	}

	private next(key: string, now: number): Turn {
		const window = this.windows.get(key);
		if (window && now < window.resetsAt * 1000) return window.turn;
		const script = this.scripts.get(key);
		const turn = script?.turns.shift() ?? script?.then ?? { say: "done" };
		if ("fail" in turn && turn.fail === "limited") this.windows.set(key, { resetsAt: Math.ceil(now / 1000) + turn.resetsInS, turn });
		return turn;
	}
}

/** The first half of an answer; the connection stays open, and nothing more comes. */
function sendHalf(response: ServerResponse, { status, headers, body }: Reply): void {
	response.writeHead(status, headers);
	response.write(body.slice(0, body.length / 2));
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
	response.writeHead(status, headers);
	response.end(body);
}

function cutOff(response: ServerResponse, where: "at_once" | "midway" | "short", { status, headers, body }: Reply): void {
	if (where === "at_once") {
		response.destroy();
		return;
	}
	response.writeHead(status, headers);
	response.write(body.slice(0, body.length / 2), () => (where === "short" ? response.end() : response.destroy()));
}
