// Shows what lies over the page; its code is loaded when it is opened first.

import type { FormProps } from "../add/form.tsx";
import { after } from "../outside.ts";
import { useNews } from "./hooks.ts";
import { lazy } from "./lazy.tsx";
import { overlay } from "./overlay.ts";

const loadPalette = async () => (await import("../palette/palette.tsx")).Palette;
const Palette = lazy<{ job: number | null }>(loadPalette);
const JobForm = lazy<FormProps>(async () => (await import("../add/form.tsx")).JobForm);

/** Its code comes a moment after the page, so that the letters typed right after Ctrl K are not lost. */
export const preload = (): void => void after(2000, () => void loadPalette().catch(() => {}));

export function Overlays() {
	useNews("talk");
	const { open } = overlay;
	if (open?.kind === "palette") return <Palette job={open.job} />;
	if (open?.kind !== "form") return null;
	const job = open.how === "add" ? null : open.job;
	return <JobForm key={`${open.how} ${job}`} how={open.how} job={job} />;
}
