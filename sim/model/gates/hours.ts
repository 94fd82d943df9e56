// Local time, the slow way: all is read from what a formatter says.

const cache = new Map<string, Intl.DateTimeFormat>();

function formatter(timezone: string): Intl.DateTimeFormat {
	let format = cache.get(timezone);
	if (format === undefined) {
		format = new Intl.DateTimeFormat("en-GB", {
			timeZone: timezone,
			hourCycle: "h23",
			year: "numeric",
			month: "2-digit",
			day: "2-digit",
			hour: "2-digit",
			minute: "2-digit",
		});
		cache.set(timezone, format);
	}
	return format;
}

type Local = { day: string; clock: string };
const minutes = new Map<string, Local>();

/** "2026-01-05", "08:30". The same for all of a minute, so it is asked for once. */
function local(at: number, timezone: string): Local {
	const key = `${Math.floor(at / 60_000)} ${timezone}`;
	let found = minutes.get(key);
	if (found === undefined) {
		if (minutes.size > 10_000) minutes.clear();
		found = format(at, timezone);
		minutes.set(key, found);
	}
	return found;
}

function format(at: number, timezone: string): Local {
	const parts = Object.fromEntries(
		formatter(timezone)
			.formatToParts(at)
			.map((part) => [part.type, part.value]),
	);
	return { day: `${parts.year}-${parts.month}-${parts.day}`, clock: `${parts.hour}:${parts.minute}` };
}

/** Is this local time inside one of the ranges "HH:MM-HH:MM"? The end is outside; a range may cross midnight. */
export function isInside(ranges: readonly string[], at: number, timezone: string): boolean {
	const { clock } = local(at, timezone);
	return ranges.some((range) => {
		const [from = "", to = ""] = range.split("-");
		return from <= to ? from <= clock && clock < to : clock >= from || clock < to;
	});
}

/** Two moments in the same hour or day of that zone. */
export function isSameWindow(window: "hour" | "day", a: number, b: number, timezone: string): boolean {
	const [x, y] = [local(a, timezone), local(b, timezone)];
	return x.day === y.day && (window === "day" || (x.clock.slice(0, 2) === y.clock.slice(0, 2) && Math.abs(a - b) < 3_600_000));
}
