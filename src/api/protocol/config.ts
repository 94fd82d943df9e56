// The methods of the configuration.

import type { Problem, Setting } from "../context.ts";
import type { Doc } from "../documents.ts";
import { adminMethod, json, maybe, text, viewerMethod, word } from "../fields.ts";

export const CONFIG_METHODS = {
	"config.get": viewerMethod<Doc<{ settings: Setting[] }>>()({
		about: "One setting, or all of a group, and where each comes from.",
		params: { key: word("for example `max_concurrent`, `lanes.code.max`, `lanes`") },
		result: "{settings: [{key, value, origin}]}",
	}),
	"config.set": adminMethod<Doc<{ settings: Setting[]; notes: string[] }>>()({
		about: "Changes a setting: checked, written to the file, in force at once; `notes` says what counts only from the next start.",
		params: { key: word("the key"), value: json("text is read as YAML: `8`, `null`, `5m`, `[a, b]`") },
		result: "{settings: [{key, value, origin}], notes}",
	}),
	"config.unset": adminMethod<Doc<{ settings: Setting[]; notes: string[] }>>()({
		about: "Takes a setting out of the file: its default counts again.",
		params: { key: word("the key") },
		result: "{settings: [{key, value, origin}], notes}",
	}),
	"config.list": viewerMethod<Doc<{ settings: Setting[] }>>()({
		about: "Every setting in force, and where it comes from.",
		params: {},
		result: "{settings: [{key, value, origin}]}",
	}),
	"config.check": viewerMethod<Doc<{ ok: boolean; problems: Problem[] }>>()({
		about: "What is wrong with a configuration, or with the file as it stands. Changes nothing.",
		params: { text: maybe(text("YAML to look at instead of the file")) },
		result: "{ok, problems: [{code, message, field, hint}]}",
	}),
} as const;
