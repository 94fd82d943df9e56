// Turns any exception into the error that a caller sees: a number, a message, a word, the field and a hint. Never a stack.

import type { Log } from "../contracts/log.ts";
import { type ErrorCode, SluiceError } from "../core/errors.ts";
import { type ErrorBody, type ErrorData, RPC_CODES } from "./protocol.ts";

/** A refusal by the RPC server itself: no such method, not this role, not JSON. */
export class Refusal extends Error {
	override readonly name = "Refusal";
	readonly number: number;
	readonly data: ErrorData;

	constructor(number: number, message: string, data: ErrorData) {
		super(message);
		this.number = number;
		this.data = data;
	}
}

export const stillStarting = (): Refusal =>
	new Refusal(RPC_CODES.store, "the daemon has just started and does not know its runs yet", { code: "closed", hint: "try again" });

const NUMBERS: Record<ErrorCode, number> = {
	invalid: RPC_CODES.params,
	unknown_key: RPC_CODES.params,
	cycle: RPC_CODES.params,
	impossible: RPC_CODES.params,
	limit: RPC_CODES.params,
	forbidden: RPC_CODES.params,
	not_found: RPC_CODES.not_found,
	conflict: RPC_CODES.conflict,
	illegal_transition: RPC_CODES.conflict,
	fenced: RPC_CODES.conflict,
	store: RPC_CODES.store,
	closed: RPC_CODES.store,
};

export function errorBody(error: unknown, log: Log, method: string): ErrorBody {
	if (error instanceof Refusal) return { code: error.number, message: error.message, data: error.data };
	if (error instanceof SluiceError) {
		const data: ErrorData = { code: error.code, field: error.field, hint: error.hint, also: error.also };
		// The kernel contract's errors have their own numbers and names.
		const { rpc_code, kernel } = error as SluiceError & { rpc_code?: number; kernel?: string };
		if (typeof rpc_code === "number") return { code: rpc_code, message: error.message, data: { ...data, kernel } };
		return { code: NUMBERS[error.code], message: error.message, data };
	}
	log.error("a method failed", { method, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
	return {
		code: RPC_CODES.internal,
		message: "something went wrong inside the daemon",
		data: { code: "internal", hint: "see daemon.log" },
	};
}
