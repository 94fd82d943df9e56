// The methods of sources of items.

import type { ItemView, SourceView } from "../../contracts/intake.ts";
import type { Doc } from "../documents.ts";
import { flag, maybe, operatorMethod, viewerMethod, word } from "../fields.ts";

export const SOURCE_METHODS = {
	"source.list": viewerMethod<Doc<{ sources: SourceView[] }>>()({
		about: "Sources of items: what is in them, and what is wrong with single items.",
		params: {},
		result:
			"{sources: [{name, kind, root, repo, watch, write_back, items, open, eligible, faults: [{source, id, place, code, message, hint}], error}]}",
	}),
	"source.show": viewerMethod<Doc<{ source: SourceView; items: ItemView[] }>>()({
		about: "One source with its items.",
		params: { name: word("the source"), all: maybe(flag("closed items too")) },
		result:
			"{source, items: [{source, id, kind, title, status, open, in_progress, eligible, held, blocked_by, members, batch, phase, flow, parallelizable, place}]}",
	}),
	"source.scan": operatorMethod<Doc<{ sources: SourceView[]; added: number[] }>>()({
		about: "Looks at a source now, or at all; what is eligible becomes jobs where the source is watched.",
		params: { name: maybe(word("the source")) },
		result: "{sources, added}",
	}),
} as const;
