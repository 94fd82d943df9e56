// The connection to the daemon: calls and the stream of events, with the token in a header and never in a URL.

import type { ErrorData, MethodName, Params, Result } from "../../src/api/protocol.ts";

type Mistake = { message: string; field?: string | undefined; hint?: string | undefined };

/** `signed_out`, `locked_out` and `offline` are our codes; all other codes are the daemon's. */
export class Refused extends Error {
	readonly code: string;
	readonly hint: string | undefined;
	/** The parameters that were wrong, the first one first. */
	readonly mistakes: readonly Mistake[];
	constructor(code: string, message: string, hint?: string, mistakes: readonly Mistake[] = []) {
		super(message);
		this.code = code;
		this.hint = hint;
		this.mistakes = mistakes;
	}
}

export type RpcClient = {
	call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>>;
	/** Resolves when the stream has ended; `heard` gets every piece of text, including heartbeats. */
	stream(since: () => number, heard: (text: string) => void, signal: AbortSignal): Promise<void>;
	/** Events since then in one answer, in the format of the stream. */
	poll(since: number): Promise<string>;
	/** Ends the session of a person at the daemon. */
	signOut(): Promise<void>;
};

type Answer = { result?: unknown; error?: { message: string; data?: ErrorData } };

/**
 * The page's message when its token is no longer valid, by the code of the refusal. Our own texts, because the answer may come from another program that
 * has the port now.
 */
const SIGNED_OUT: Record<string, string> = {
	restarted: "The daemon was restarted, so this page is signed out",
	signed_out: "This page was not used for 12 hours, so it is signed out",
};
const UNKNOWN = "The daemon does not know this page any more, so it is signed out";

async function send(path: string, init: RequestInit): Promise<Response> {
	try {
		// Cookies are for a proxy that signs people in; on plain HTTP, where every program on this machine would get them, none are sent.
		const credentials = location.protocol === "https:" ? "same-origin" : "omit";
		return await fetch(path, { ...init, cache: "no-store", credentials, redirect: "error" });
	} catch (error) {
		if (error instanceof DOMException && (error.name === "AbortError" || error.name === "TimeoutError")) throw error;
		throw new Refused("offline", "the daemon cannot be reached", "sluice up starts it");
	}
}

/** No call takes this long; longer ones (a log that is waited for) end earlier by themselves. */
const CALL_MS = 30_000;

/** Names a call that got no answer: what it was to do may have been done. */
async function inTime<T>(call: () => Promise<T>): Promise<T> {
	try {
		return await call();
	} catch (error) {
		if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
		throw new Refused("timeout", `no answer within ${CALL_MS / 1000} s`, "it may have been done all the same: look before you try again");
	}
}

/** Exchanges a sign-in code for a page token, which only this run of the daemon knows. */
export async function exchange(code: string): Promise<string> {
	const response = await send("/sign-in", { method: "POST", headers: { Authorization: `Bearer ${code}` } });
	if (response.status === 401 || response.status === 429) throw new Refused("signed_out", "This link was used already, or is too old");
	if (!response.ok) throw new Refused("offline", `the daemon answered ${response.status}`);
	const { token } = (await response.json()) as { token?: unknown };
	if (typeof token !== "string") throw new Refused("offline", "the daemon answered without a token");
	return token;
}

function refusal({ message, data }: NonNullable<Answer["error"]>): Refused {
	const mistakes = [{ message, field: data?.field, hint: data?.hint }, ...(data?.also ?? [])];
	return new Refused(data?.code ?? "failed", message, data?.hint, mistakes);
}

/** After the first refusal of the token, nothing more is sent: each later call is refused here. Null: a proxy names the person. */
export function openDoor(token: string | null): RpcClient {
	const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
	let calls = 0;
	let dead: Refused | null = null;
	async function ask(path: string, init: RequestInit): Promise<Response> {
		if (dead) throw dead;
		const response = await send(path, init);
		if (response.status === 401) {
			const { error } = (await response.json().catch(() => ({}))) as { error?: { code?: unknown } };
			dead ??= new Refused("signed_out", SIGNED_OUT[String(error?.code)] ?? UNKNOWN, "sluice open prints a new link");
			throw dead;
		}
		if (response.status === 429) throw new Refused("locked_out", "too many wrong tokens: wait a minute");
		if (!response.ok) throw new Refused("offline", `the daemon answered ${response.status}`);
		return response;
	}
	return {
		async call(method, params, signal) {
			const body = JSON.stringify({ jsonrpc: "2.0", id: ++calls, method, params });
			const late = AbortSignal.timeout(CALL_MS);
			const init = {
				method: "POST",
				headers: { ...headers, "Content-Type": "application/json" },
				body,
				signal: signal ? AbortSignal.any([signal, late]) : late,
			};
			const answer = await inTime(async () => (await (await ask("/rpc", init)).json()) as Answer);
			if (answer.error) throw refusal(answer.error);
			return answer.result as Result<typeof method>;
		},
		async stream(since, heard, signal) {
			const response = await ask(`/events?since=${since()}`, { headers, signal });
			const reader = response.body?.getReader();
			if (!reader) throw new Refused("offline", "this browser cannot read streams");
			const decoder = new TextDecoder();
			for (;;) {
				const { done, value } = await reader.read();
				if (done) return;
				heard(decoder.decode(value, { stream: true }));
			}
		},
		signOut: async () => void (await ask("/sign-out", { method: "POST", headers })),
		poll: async (since) => (await ask(`/events?since=${since}&once`, { headers, signal: AbortSignal.timeout(CALL_MS) })).text(),
	};
}
