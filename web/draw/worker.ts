// The worker that lays out graphs, so that the page stays responsive meanwhile.

import { type LayoutRequest, layOut } from "./layout.ts";

self.onmessage = ({ data }: MessageEvent<{ turn: number; asked: LayoutRequest }>) =>
	self.postMessage({ turn: data.turn, placed: layOut(data.asked) });
