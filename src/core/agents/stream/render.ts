// Renders an agent's JSON lines for people: what it says, which tools it uses, what goes wrong.

import type { Format } from "../profile.ts";
import type { Happening } from "./happening.ts";
import { short } from "./json.ts";
import { createReader } from "./reading.ts";

const OUTPUT_LINES = 5;
const encoder = new TextEncoder();

export type Renderer = { push(text: string): string; end(): string };

/** Lines that are not events are passed through. */
export function createRenderer(format: Format): Renderer {
	let out = "";
	let isPiece = false;
	/** An error is often reported twice: when it happens, and as the end. */
	let lastTrouble = "";
	const tools = new Map<string, string>();
	const line = (text: string) => {
		if (isPiece) out += "\n";
		isPiece = false;
		out += `${text}\n`;
	};
	const show = (one: Happening): void => {
		switch (one.is) {
			case "said":
				if (one.text === "") return;
				if (!one.piece) line(one.text);
				else {
					out += one.text;
					isPiece = true;
				}
				return;
			case "tool":
				if (tools.has(one.id)) return;
				tools.set(one.id, one.name);
				line(`▸ ${one.name}${one.text === "" ? "" : ` ${short(one.text.replaceAll("\n", " "), 200)}`}`);
				return;
			case "tool_done":
				tools.delete(one.id);
				if (one.how !== "ok") line(one.how === "denied" ? "  not allowed" : "  failed");
				for (const shown of indented(one.text)) line(shown);
				return;
			case "retry":
				line(`… ${one.text}`);
				return;
			case "limit":
				line(`! limit reached${one.until === null ? "" : `, until ${new Date(one.until).toISOString()}`}`);
				return;
			case "trouble":
				lastTrouble = one.text;
				line(`! ${one.text}`);
				return;
			case "notice":
				line(`· ${one.text}`);
				return;
			case "ended":
				if (one.how === "badly" && one.text !== "" && one.text !== lastTrouble) line(`! ${one.text}`);
				for (const denied of one.denied ?? []) line(`! not allowed: ${short(denied, 300)}`);
				return;
			case "used":
				for (const shown of usageWords(one)) line(shown);
				return;
			case "session":
			case "version":
			case "thought":
			case "turn":
			case "call":
				return;
			default:
				one satisfies never;
		}
	};
	const reader = createReader(format, show, line);
	const drained = () => {
		const text = out;
		out = "";
		return text;
	};
	return {
		push(text) {
			reader.push(encoder.encode(text));
			return drained();
		},
		end() {
			reader.end();
			if (isPiece) out += "\n";
			isPiece = false;
			return drained();
		},
	};
}

function usageWords({ scope, used, own }: Extract<Happening, { is: "used" }>): string[] {
	// Newer versions of Claude Code report both the session's sum and this run's part; Codex reports only the sum.
	const { tokens, cost_micro } = own ?? used;
	const cost = cost_micro === null ? "" : `, $${(cost_micro / 1e6).toFixed(4)}`;
	return tokens > 0 ? [`· ${tokens} tokens${cost}${scope === "session" ? " in this session so far" : ""}`] : [];
}

function indented(text: string): string[] {
	const lines = text.split("\n").filter((one) => one.trim() !== "");
	const shown = lines.slice(0, OUTPUT_LINES).map((one) => `  ${short(one, 200)}`);
	const left = lines.length - OUTPUT_LINES;
	return left > 0 ? [...shown, `  … ${left} ${left === 1 ? "line" : "lines"} more`] : shown;
}
