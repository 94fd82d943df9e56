// Numbers as people read them: spans, moments, money, bytes. Pure.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `850 ms`, `12 s`, `3 m 05 s`, `2 h 10 m`, `4 d 3 h`. */
export function span(ms: number): string {
	const whole = Math.max(0, Math.round(ms));
	if (whole < 1000) return `${whole} ms`;
	if (whole < MINUTE) return `${Math.floor(whole / 1000)} s`;
	const two = (value: number) => String(value).padStart(2, "0");
	if (whole < HOUR) return `${Math.floor(whole / MINUTE)} m ${two(Math.floor((whole % MINUTE) / 1000))} s`;
	if (whole < DAY) return `${Math.floor(whole / HOUR)} h ${two(Math.floor((whole % HOUR) / MINUTE))} m`;
	return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / HOUR)} h`;
}

/** As `span`, but nothing below a second: for running times. */
export const elapsed = (ms: number): string => (ms < 1000 ? "0 s" : span(ms));

export function dollars(micros: number): string {
	const value = micros / 1_000_000;
	if (micros !== 0 && Math.abs(value) < 0.01) return "< $0.01";
	return `$${value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** `5`, `$2.50`, `1,000` as micro-dollars; null if it is no amount. */
export function microsOf(text: string): number | null {
	const plain = text
		.trim()
		.replace(/^\$\s*/, "")
		.replaceAll(",", "");
	return /^\d{1,9}(?:\.\d{1,6})?$/.test(plain) ? Math.round(Number(plain) * 1_000_000) : null;
}

export const count = (value: number): string => value.toLocaleString("en");

export function bytes(value: number): string {
	if (value < 1024) return `${value} B`;
	if (value < 1_048_576) return `${(value / 1024).toFixed(0)} kB`;
	return `${(value / 1_048_576).toFixed(1)} MB`;
}

const DATE: Intl.DateTimeFormatOptions = { month: "short", day: "numeric" };
const CLOCK: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };

/** The time, with the date unless it is today. */
export function moment(at: number, now: number): string {
	const [then, today] = [new Date(at), new Date(now)];
	const clock = then.toLocaleTimeString("en", CLOCK);
	return then.toDateString() === today.toDateString() ? clock : `${then.toLocaleDateString("en", DATE)} ${clock}`;
}

/** The daemon's moments within a sentence, in the time of the reader: `not before 10:41:00`. */
export const localTimes = (text: string): string =>
	text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (stamp) => moment(Date.parse(stamp), Date.parse(stamp)));

/** `10:41`. */
export const clock = (at: number): string =>
	new Date(at).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** `in 3 m 05 s`, `12 s ago`. */
export const fromNow = (at: number, now: number): string => (at > now ? `in ${elapsed(at - now)}` : `${elapsed(now - at)} ago`);

export const inWords = (code: string): string => code.replaceAll("_", " ");

/** Joins the facts that are not empty. */
export const facts = (...all: readonly string[]): string => all.filter((one) => one !== "").join(" · ");
