// How a terminal's style is drawn: classes for what the style sheet knows, exact colours for the rest, kept legible on light and on dark. Pure.

import type { AnsiColour, AnsiStyle } from "./ansi.ts";

type Rgb = [number, number, number];

/** The six levels of the palette's cube. */
const LEVELS = [0, 95, 135, 175, 215, 255] as const;

/** A colour of the palette above the first 16, which the style sheet defines. */
function paletteColour(index: number): Rgb {
	if (index >= 232) {
		const grey = 8 + (index - 232) * 10;
		return [grey, grey, grey];
	}
	const cube = index - 16;
	const level = (place: number) => LEVELS[Math.floor(cube / place) % 6] ?? 0;
	return [level(36), level(6), level(1)];
}

const rgbOf = (colour: AnsiColour): Rgb =>
	typeof colour === "number" ? paletteColour(colour) : ([1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as Rgb);

const linear = (value: number): number => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]: Rgb): number => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const mix = (from: Rgb, to: number, share: number): Rgb => from.map((value) => Math.round(value + (to - value) * share)) as Rgb;

/** Moves a colour towards black or white until text in it can be read: on white at most this bright, on the dark panel at least. */
export function legible(rgb: Rgb, on: "light" | "dark"): Rgb {
	for (let share = 0; share < 1; share += 0.1) {
		const moved = mix(rgb, on === "light" ? 0 : 255, share);
		if (on === "light" ? luminance(moved) <= 0.17 : luminance(moved) >= 0.24) return moved;
	}
	return mix(rgb, on === "light" ? 0 : 255, 1);
}

const css = (rgb: Rgb): string => `rgb(${rgb.join(" ")})`;

/** Class names and inline colours. */
export function looksOf(style: AnsiStyle): { class: string; style?: Record<string, string> } {
	const names = ["bold", "dim", "italic", "underline"].filter((name) => style[name as "bold"]).map((name) => `a-${name}`);
	const exact: Record<string, string> = {};
	const [fg, bg] = style.inverse ? [style.bg, style.fg] : [style.fg, style.bg];
	if (style.inverse) names.push("a-inverse");
	if (typeof bg === "number" && bg < 16) names.push(`b${bg}`);
	else if (bg !== null) {
		exact.backgroundColor = css(rgbOf(bg));
		// Beside a background of its own, text without a colour takes black or white, whichever is legible on it.
		if (fg === null) exact.color = luminance(rgbOf(bg)) > 0.18 ? "#000" : "#fff";
	}
	if (typeof fg === "number" && fg < 16) names.push(`f${fg}`);
	else if (fg !== null) {
		const rgb = rgbOf(fg);
		exact.color = bg === null ? `light-dark(${css(legible(rgb, "light"))}, ${css(legible(rgb, "dark"))})` : css(rgb);
	}
	return { class: names.join(" "), ...(Object.keys(exact).length > 0 ? { style: exact } : {}) };
}
