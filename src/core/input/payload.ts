// A job's payload is opaque: it is returned as it was passed in, whatever JSON it is, up to a size and a depth that can be stored and read again.

import { SluiceError } from "../errors.ts";
import { copy } from "../text/copy.ts";
import { depthOf, JsonText } from "../text/json-text.ts";
import * as check from "./check.ts";

const MAX_PAYLOAD = check.MAX_TEXT;
const MAX_PAYLOAD_DEPTH = 1000;

/** `payload_json`: its exact text, if a JavaScript value cannot represent all of it. */
export type Payload = { payload?: unknown; payload_json?: string };

export function readPayload(given: unknown, field: string): { payload: unknown; payload_json?: string } {
	if (given instanceof JsonText) {
		const { text } = given;
		if (text.length > MAX_PAYLOAD) throw tooLong(field, text.length);
		if (depthOf(text) > MAX_PAYLOAD_DEPTH)
			throw new SluiceError("limit", `${field}: nested more than ${MAX_PAYLOAD_DEPTH} deep`, { field });
		return { payload: given.value(), payload_json: text };
	}
	// Includes U+0000 and halves of surrogate pairs: JSON writes them as escapes, so that every store can hold them.
	check.json(given, field, { max: MAX_PAYLOAD, depth: MAX_PAYLOAD_DEPTH, strings: "any" });
	return { payload: copy(given) };
}

const tooLong = (field: string, length: number) =>
	new SluiceError("limit", `${field}: ${length} characters of JSON, at most ${MAX_PAYLOAD}`, {
		field,
		hint: "put large data into a file and pass its path",
	});

/** The payload to pass on: as text if the value does not represent all of it. */
export const exactPayload = ({ payload, payload_json }: Payload): unknown =>
	payload_json === undefined ? payload : new JsonText(payload_json);

export const payloadText = ({ payload, payload_json }: Payload): string => payload_json ?? JSON.stringify(payload);
