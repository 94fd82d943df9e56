// Draws a laid-out graph on a canvas: only the visible part, and only details that are readable at its scale.

import type { Status } from "../../src/core/job.ts";
import { type Camera, sight } from "./camera.ts";
import { type LaidOut, NODE } from "./layout.ts";

type Look = { status: Status; label: string };
export type Picture = {
	placed: LaidOut;
	at: Map<number, { x: number; y: number }>;
	look: (id: number) => Look | undefined;
	/** Jobs of the critical path, and its steps as `from>to`. */
	path: { jobs: Set<number>; steps: Set<string> };
	chosen: number | null;
	colours: Record<"ink" | "dim" | "line" | "panel" | "accent" | "critical" | "wait" | "queue" | "run" | "good" | "bad", string>;
};

export const COLOUR: Record<Status, "wait" | "queue" | "run" | "good" | "bad" | "dim"> = {
	queued: "queue",
	waiting_on_deps: "wait",
	waiting_on_locks: "wait",
	running: "run",
	succeeded: "good",
	failed: "bad",
	cancelled: "dim",
	blocked_by_dependency: "bad",
	expired: "dim",
};

const FONT = "12px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

export function paintGraph(context: CanvasRenderingContext2D, camera: Camera, width: number, height: number, picture: Picture): number {
	const { placed, at, path, colours } = picture;
	const { left, top, right, bottom } = sight(camera, width, height);
	const [halfX, halfY] = [NODE.width / 2, NODE.height / 2];
	context.save();
	context.translate(camera.dx, camera.dy);
	context.scale(camera.scale, camera.scale);

	const readable = camera.scale > 0.42;
	const lines = (which: "plain" | "critical") => {
		context.beginPath();
		for (const edge of placed.edges) {
			if (path.steps.has(`${edge.from}>${edge.to}`) !== (which === "critical")) continue;
			const [a, b] = [at.get(edge.from), at.get(edge.to)];
			if (!a || !b) continue;
			if (Math.max(a.x, b.x) < left - halfX || Math.min(a.x, b.x) > right + halfX) continue;
			if (Math.max(a.y, b.y) < top - 200 || Math.min(a.y, b.y) > bottom + 200) continue;
			if (readable) arrow(context, a.x + halfX, a.y, b.x - halfX, b.y, edge.bends);
			else {
				// At this scale curves are not visible; thousands of them would take most of a frame.
				context.moveTo(a.x + halfX, a.y);
				context.lineTo(b.x - halfX, b.y);
			}
		}
		context.strokeStyle = which === "critical" ? colours.critical : colours.line;
		context.lineWidth = (which === "critical" ? 2 : 1) / Math.max(0.4, Math.min(1, camera.scale));
		context.stroke();
	};
	lines("plain");
	if (path.steps.size > 0) lines("critical");

	context.font = FONT;
	context.textBaseline = "middle";
	let drawn = 0;
	for (const { id, x, y } of placed.nodes) {
		if (x + halfX < left || x - halfX > right || y + halfY < top || y - halfY > bottom) continue;
		drawn++;
		const look = picture.look(id);
		const colour = colours[COLOUR[look?.status ?? "queued"]];
		const [boxX, boxY] = [x - halfX, y - halfY];
		if (!readable) {
			context.fillStyle = colour;
			context.fillRect(boxX, boxY, NODE.width, NODE.height);
			if (path.jobs.has(id) || id === picture.chosen)
				frame(context, boxX, boxY, id === picture.chosen ? colours.accent : colours.critical, 4 / camera.scale / 2);
			continue;
		}
		context.fillStyle = colours.panel;
		context.fillRect(boxX, boxY, NODE.width, NODE.height);
		context.fillStyle = colour;
		context.fillRect(boxX, boxY, 4, NODE.height);
		const strong = id === picture.chosen ? colours.accent : path.jobs.has(id) ? colours.critical : null;
		frame(context, boxX, boxY, strong ?? colours.line, strong ? 2 : 1);
		context.fillStyle = colours.dim;
		const number = String(id);
		context.fillText(number, boxX + 12, y);
		const begin = boxX + 18 + number.length * 7;
		context.fillStyle = look?.status === "succeeded" || look?.status === "cancelled" ? colours.dim : colours.ink;
		context.fillText(cut(look?.label ?? "", Math.floor((boxX + NODE.width - 8 - begin) / 6.4)), begin, y);
	}
	context.restore();
	return drawn;
}

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`);

function frame(context: CanvasRenderingContext2D, x: number, y: number, colour: string, width: number): void {
	context.strokeStyle = colour;
	context.lineWidth = width;
	context.strokeRect(x + 0.5, y + 0.5, NODE.width - 1, NODE.height - 1);
}

function arrow(
	context: CanvasRenderingContext2D,
	x1: number,
	y1: number,
	x2: number,
	y2: number,
	bends: readonly { x: number; y: number }[],
): void {
	context.moveTo(x1, y1);
	if (bends.length > 1) {
		for (const { x, y } of bends) context.lineTo(x, y);
		context.lineTo(x2, y2);
		return;
	}
	const reach = Math.max(24, (x2 - x1) / 2);
	context.bezierCurveTo(x1 + reach, y1, x2 - reach, y2, x2, y2);
}
