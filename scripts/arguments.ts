// What our own programs (simulator, benchmarks) are called with: a mistake is one line and exit code 2, not a stack trace.

import { type ParseArgsConfig, parseArgs } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;

export function readArguments<const O extends Options>(
	program: string,
	options: O,
): ReturnType<typeof parseArgs<{ options: O }>>["values"] {
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		// Node adds advice after the first sentence, for options that begin with a dash.
		const [said] = (error as Error).message.split(". ");
		return refuse(
			program,
			`${said}; there are: ${Object.keys(options)
				.map((name) => `--${name}`)
				.join(" ")}`,
		);
	}
}

/** A whole number, from `least` on. */
export function wholeNumber(program: string, name: string, text: string, least = 0): number {
	const value = Number(text);
	if (text.trim() === "" || !Number.isSafeInteger(value) || value < least)
		refuse(program, `--${name} takes a whole number from ${least} on, not "${text}"`);
	return value;
}

function refuse(program: string, message: string): never {
	console.error(`${program}: ${message}`);
	process.exit(2);
}
