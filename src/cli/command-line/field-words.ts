// Translates field names of the daemon's errors (`after[0]`, `uses.slot`) to the options and arguments that a person typed.

import type { CommandSpec } from "../command.ts";

/** Fields whose option has another name and does not set them as given. The first one that the command has is used. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
	runnable_at: ["at", "in"],
	pinned_head: ["pin"],
	timeout_ms: ["timeout"],
	stall_timeout_ms: ["stall-timeout"],
	priority_value: ["priority"],
};
/** Settings that a command sets by options of other names. */
const SETTING_OPTIONS: Readonly<Record<string, string>> = {
	"listen.address": "listen",
	"listen.certificate": "cert",
	"listen.key": "key",
	"listen.names": "name",
};
/** Fields that are arguments of the command line. */
const ARGUMENT_WORDS: Readonly<Record<string, string>> = { id: "ID", ids: "ID", command: "the command", prompt: "the prompt" };

/** `after[0]: "1,2" is not a name` → `--after: "1,2" is not a name`; a message that does not begin with its field is not changed. */
export function inTypedWords(message: string, field: string | undefined, command: CommandSpec | undefined): string {
	if (command === undefined) return message;
	// A refusal names the method; print the command instead.
	const refused = message.replace(/^[a-z_]+(?:\.[a-z_]+)+ (?=is not allowed)/, `sluice ${command.name} `);
	if (field === undefined || !message.startsWith(`${field}: `)) return refused;
	const setting = SETTING_OPTIONS[field.replace(/\[\d+\]$/, "")];
	if (setting !== undefined && command.options?.some(({ name }) => name === setting)) return `--${setting}${message.slice(field.length)}`;
	const [, name = "", path = ""] = /^(?:jobs\[\d+\]\.)?(\w+)(?:\[\d+\])?(?:\.(.*))?$/.exec(field) ?? [];
	const wanted = [...(OPTIONS[name] ?? []), name.replaceAll("_", "-"), name.replaceAll("_", "-").replace(/s$/, "")];
	const options = command.options ?? [];
	const option = options.find(({ field }) => field === name)?.name ?? wanted.find((one) => options.some((each) => each.name === one));
	const said = option === undefined ? ARGUMENT_WORDS[name] : `--${option}${path === "" ? "" : ` ${path}`}`;
	const rest = message.slice(field.length).replace(" (runnable_at)", " (--at, --in)");
	return said === undefined ? message : `${said}${rest}`;
}
