// The way to the daemon: calls and the stream of events, with the token in a header and never in an address.

import type { ErrorData, MethodName, Params, Result } from "../../src/api/protocol.ts";

/** `wrong_token` and `offline` are ours; the others are the daemon's. */
export class Refused extends Error {
	readonly code: string;
	readonly hint: string | undefined;
	constructor(code: string, message: string, hint?: string) {
		super(message);
		this.code = code;
		this.hint = hint;
	}
}

export type Door = {
	call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>>;
	/** Resolves when the stream has ended; `heard` is told of every piece, heartbeats too. */
	stream(since: number, heard: (text: string) => void, signal: AbortSignal): Promise<void>;
	/** Events since then, as the stream would tell them, in one answer. */
	poll(since: number): Promise<string>;
};

type Answer = { result?: unknown; error?: { message: string; data?: ErrorData } };

export function openDoor(token: string): Door {
	const headers = { Authorization: `Bearer ${token}` };
	let calls = 0;
	async function ask(path: string, init: RequestInit): Promise<Response> {
		let response: Response;
		try {
			response = await fetch(path, { ...init, cache: "no-store", credentials: "omit", redirect: "error" });
		} catch (error) {
			if (error instanceof DOMException && error.name === "AbortError") throw error;
			throw new Refused("offline", "the daemon cannot be reached", "sluice up starts it");
		}
		if (response.status === 401) throw new Refused("wrong_token", "this token opens nothing here");
		if (response.status === 429) throw new Refused("locked_out", "too many wrong tokens: wait half a minute");
		if (!response.ok) throw new Refused("offline", `the daemon answered ${response.status}`);
		return response;
	}
	return {
		async call(method, params, signal) {
			const body = JSON.stringify({ jsonrpc: "2.0", id: ++calls, method, params });
			const init = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body, ...(signal ? { signal } : {}) };
			const answer = (await (await ask("/rpc", init)).json()) as Answer;
			if (answer.error) throw new Refused(answer.error.data?.code ?? "failed", answer.error.message, answer.error.data?.hint);
			return answer.result as Result<typeof method>;
		},
		async stream(since, heard, signal) {
			const response = await ask(`/events?since=${since}`, { headers, signal });
			const reader = response.body?.getReader();
			if (!reader) throw new Refused("offline", "this browser cannot read streams");
			const decoder = new TextDecoder();
			for (;;) {
				const { done, value } = await reader.read();
				if (done) return;
				heard(decoder.decode(value, { stream: true }));
			}
		},
		poll: async (since) => (await ask(`/events?since=${since}&once`, { headers })).text(),
	};
}
