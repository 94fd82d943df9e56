// What requests and replies contain: their version, their limits, and errors as data.

import { type ErrorCode, type Mistake, messageOf, SluiceError } from "../core/errors.ts";
import { KernelError, type KernelErrorName } from "../scheduler/kernel/input.ts";

/** Version of the messages. A leader hands over to a candidate that speaks later ones, and understands those of earlier versions. */
export const MESSAGES = 1;

/** Longest arguments of a request, in characters: a piece of a manifest with long prompts must fit. And most open calls of a member, besides claims that stand. */
export const BODY_MAX = 16_000_000;
export const OPEN_CALLS_MAX = 1_000;

type ErrorBody = { code: ErrorCode | null; message: string; field?: string; hint?: string; also?: Mistake[]; kernel?: KernelErrorName };

export function writeError(error: unknown): string {
	if (error instanceof KernelError) return JSON.stringify({ ...error.toJSON(), kernel: error.kernel });
	if (error instanceof SluiceError) return JSON.stringify(error);
	const body: ErrorBody = { code: null, message: messageOf(error) };
	return JSON.stringify(body);
}

/** An error of ours is the same error for the caller; any other one is a fault that the leader met. */
export function readError(text: string): Error {
	const { code, message, kernel, ...rest }: ErrorBody = JSON.parse(text);
	if (code === null) return new Error(`the leader met a fault: ${message}`);
	if (kernel) return new KernelError(kernel, code, message, rest.field, rest.hint);
	return new SluiceError(code, message, rest);
}

/** `undefined`, which JSON lacks, is written as an empty text. */
export const writeValue = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value));
export const readValue = (text: string): unknown => (text === "" ? undefined : JSON.parse(text));
