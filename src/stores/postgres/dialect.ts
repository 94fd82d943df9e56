// The shared queries in PostgreSQL's words: numbered parameters, lists as arrays, tables by their full names.

import type { Query } from "../sql/reads.ts";
import { quoted } from "./columns.ts";
import { qualified } from "./schema.ts";

type Shape = { text: string; lists: readonly ("ids" | "keys" | null)[] };

const shapes = new Map<string, Shape>();

/** `schema` is the same for all queries of a store, and few stores are open at once. */
function shapeOf(sql: string, schema: string): Shape {
	const name = `${schema}\n${sql}`;
	let shape = shapes.get(name);
	if (!shape) {
		const lists: Shape["lists"][number][] = [];
		const text = qualified(sql, schema)
			.replaceAll("doc ->>", "doc::json ->>")
			.replace(/IN \{(ids|keys)\}|\{texts\}|\?/g, (mark, list: "ids" | "keys" | undefined) => {
				lists.push(mark === "{texts}" ? "keys" : (list ?? null));
				if (mark === "?") return `$${lists.length}`;
				if (mark === "{texts}") return `unnest($${lists.length}::text[]) AS e(value)`;
				return `= ANY($${lists.length}::${list === "ids" ? "bigint" : "text"}[])`;
			});
		shape = { text, lists };
		shapes.set(name, shape);
	}
	return shape;
}

export function translate({ sql, params }: Query, schema: string): { text: string; values: (string | number | null)[] } {
	const { text, lists } = shapeOf(sql, schema);
	const values = params.map((value, index) => {
		const list = lists[index];
		if (!list) return value;
		if (list === "ids") return `{${String(value).slice(1, -1)}}`;
		const text = String(value);
		// A list of texts is written alike, but for what is escaped.
		return text.includes("\\") ? `{${(JSON.parse(text) as string[]).map(quoted).join(",")}}` : `{${text.slice(1, -1)}}`;
	});
	return { text, values };
}
