// Turns a card's file into an item: its path gives phase and state, its front matter the rest. Pure.

import { basename } from "node:path";
import { AGENT_STATUSES, type AgentStatus, type Item, plainItem } from "../../contracts/source.ts";
import * as check from "../../core/input/check.ts";
import { suggest } from "../../core/input/nearest.ts";
import { isOneOf } from "../../core/text/one-of.ts";
import { type CardText, oneLine, titleOf, withoutHistory } from "./front-matter.ts";

export const FOLDERS = ["backlog", "in-progress", "done"] as const;
export type Folder = (typeof FOLDERS)[number];
export const PHASE = /^phase-\d+(?:-.*)?$/;

/** The position of a card below the root. */
export type CardPath = { phase: string; folder: Folder; name: string };

/** `5.3-login-form.md` → 5.3, `A-12-search.md` → A-12. */
export function cardCodeOf(name: string): string {
	const stem = basename(name, ".md");
	return /^(?:[A-Za-z]+-\d+(?=-|$)|[^-\s]+)/.exec(stem)?.[0] ?? stem;
}

export type Card = Item & { agent_status: AgentStatus | "" };

export function cardOf(source: string, card: CardText, { phase, folder, name }: CardPath, path: string, mark: string): Card {
	const fields = card.front?.fields ?? {};
	const id = check.word(cardCodeOf(name), "code");
	const flow = text(fields, "agent_flow");
	const status = statusOf(text(fields, "agent_status"));
	const busy = status === "queued" || status === "running";
	const title = titleOf(card);
	return {
		...plainItem(source, id),
		title: title === null ? id : oneLine(title, "title"),
		text: withoutHistory(card.body).trim(),
		status: folder,
		agent_status: status,
		open: folder !== "done",
		// It may come from our own write-back, so it does not hold the item back: `taken` stays null.
		in_progress: busy,
		phase,
		flow: flow === "" ? null : check.label(flow, "agent_flow"),
		parallelizable: flag(fields, "parallelizable"),
		branch: text(fields, "branch") || null,
		owner: text(fields, "owner") || null,
		eligible: flow !== "" && folder !== "done" && (status === "" || status === "idle"),
		place: path,
		mark,
		...(folder === "done" && busy ? { report: `agent_status is ${status}, but the card lies in done` } : {}),
	};
}

function text(fields: Record<string, unknown>, key: string): string {
	const value = fields[key];
	if (value === undefined || value === null) return "";
	if (typeof value === "number") return String(value);
	return check.text(value, key, { max: 1000, lines: "one" }).trim();
}

function flag(fields: Record<string, unknown>, key: string): boolean {
	const value = fields[key];
	return value === undefined || value === null ? false : check.flag(value, key);
}

/** Accepts `canceled` and `cancelled`. */
function statusOf(word: string): AgentStatus | "" {
	const status = word === "cancelled" ? "canceled" : word;
	if (status === "" || isOneOf(status, AGENT_STATUSES)) return status;
	const known = AGENT_STATUSES.join(", ");
	throw check.wrong("agent_status", `must be one of ${known}, not ${check.shown(word)}`, suggest(status, AGENT_STATUSES, undefined));
}

/** Which status of a card our status may replace; any other was written by a person, and stays. */
const BEFORE: Record<AgentStatus, readonly (AgentStatus | "")[]> = {
	idle: ["", "idle"],
	queued: ["", ...AGENT_STATUSES],
	running: ["", "queued", "running", "failed"],
	succeeded: ["queued", "running", "failed", "succeeded"],
	failed: ["queued", "running", "failed"],
	canceled: ["queued", "running", "failed", "canceled"],
};

export const mayFollow = (now: AgentStatus | "", next: AgentStatus): boolean => BEFORE[next].includes(now);
