// The visible part of a large drawing and its scale: moved, zoomed around a point, fitted. Pure.

/** A point of the drawing is on the screen at `x * scale + dx`, `y * scale + dy`. */
export type Camera = { scale: number; dx: number; dy: number };

const SCALES = { least: 0.02, most: 2.5 };

export function wholeOf(width: number, height: number, screenWidth: number, screenHeight: number, margin = 24): Camera {
	if (width <= 0 || height <= 0) return { scale: 1, dx: margin, dy: margin };
	const room = Math.min((screenWidth - 2 * margin) / width, (screenHeight - 2 * margin) / height);
	const scale = Math.min(1, Math.max(SCALES.least, room));
	return { scale, dx: (screenWidth - width * scale) / 2, dy: (screenHeight - height * scale) / 2 };
}

export function zoom({ scale, dx, dy }: Camera, factor: number, atX: number, atY: number): Camera {
	const next = Math.min(SCALES.most, Math.max(SCALES.least, scale * factor));
	const by = next / scale;
	return { scale: next, dx: atX - (atX - dx) * by, dy: atY - (atY - dy) * by };
}

export const move = (camera: Camera, x: number, y: number): Camera => ({ ...camera, dx: camera.dx + x, dy: camera.dy + y });

export const centreOn = ({ scale }: Camera, x: number, y: number, width: number, height: number): Camera => ({
	scale,
	dx: width / 2 - x * scale,
	dy: height / 2 - y * scale,
});

/** The part of the drawing that is on the screen. */
export const sight = ({ scale, dx, dy }: Camera, width: number, height: number) => ({
	left: -dx / scale,
	top: -dy / scale,
	right: (width - dx) / scale,
	bottom: (height - dy) / scale,
});
