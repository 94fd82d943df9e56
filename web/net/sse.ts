// Parses server-sent events from pieces of text, wherever they are cut. Pure.

export type Frame = { id: number | null; event: string; data: string };

export class SseReader {
	private rest = "";

	/** The frames that are complete now; comments (heartbeats) are skipped. */
	feed(text: string): Frame[] {
		const parts = (this.rest + text).split("\n\n");
		this.rest = parts.pop() ?? "";
		return parts.flatMap((part) => {
			const frame: Frame = { id: null, event: "message", data: "" };
			let isFrame = false;
			for (const line of part.split("\n")) {
				const colon = line.indexOf(":");
				if (colon <= 0) continue;
				const [key, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
				isFrame = true;
				if (key === "id") frame.id = Number(value);
				else if (key === "event") frame.event = value;
				else if (key === "data") frame.data += value;
			}
			return isFrame ? [frame] : [];
		});
	}
}
