// Completion scripts for bash, zsh and fish, made from the commands' descriptions. `sluice __complete` asks a running daemon for ids, lanes and hosts.

import { type CommandSpec, type Completes, GLOBAL_OPTIONS, type OptionSpec } from "../command.ts";

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const firstWords = (commands: readonly CommandSpec[]) => [...new Set(visible(commands).map(({ name }) => name.split(" ")[0] ?? ""))];
const verbsOf = (commands: readonly CommandSpec[], group: string) =>
	visible(commands).flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []));
const visible = (commands: readonly CommandSpec[]) => commands.filter((command) => !command.hidden);
const optionsOf = (command: CommandSpec): readonly OptionSpec[] => [...(command.options ?? []), ...GLOBAL_OPTIONS];
const valuesOf = (option: OptionSpec): Completes | undefined => option.choices ?? option.completes;
const groupsOf = (commands: readonly CommandSpec[]) => firstWords(commands).filter((word) => verbsOf(commands, word).length > 0);
const written = (option: OptionSpec) => [`--${option.name}`, ...(option.short ? [`-${option.short}`] : [])];

/** A shell's actions: for a list of words, for what `__complete` is asked for, and for files. */
type Actions = { words(list: readonly string[]): string; ask(kind: string): string; file: string; folder: string; nothing?: string };

function action(completes: Completes | undefined, { words, ask, nothing = "", ...files }: Actions): string {
	if (completes === undefined || completes === "command") return completes === undefined ? nothing : "";
	if (typeof completes !== "string") return words(completes);
	return completes === "file" || completes === "folder" ? files[completes] : ask(completes);
}

export function bash(commands: readonly CommandSpec[]): string {
	const fill = (completes: Completes | undefined) =>
		action(completes, {
			words: (list) => `__sluice_words ${quoted(list.join(" "))}`,
			ask: (kind) => `__sluice_ask ${kind}`,
			file: "__sluice_files",
			folder: "__sluice_folders",
			nothing: ":",
		});
	const cases = visible(commands).map((command) => {
		const valued = optionsOf(command).filter((option) => option.type !== "flag");
		const names = optionsOf(command).flatMap((option) => `--${option.name}`);
		return [
			`\t${quoted(command.name)})`,
			...(valued.length > 0
				? [
						"\t\tcase $prev in",
						...valued.map((option) => `\t\t\t${written(option).join("|")}) ${fill(valuesOf(option))}; return ;;`),
						"\t\tesac",
					]
				: []),
			`\t\tif [[ $cur == -* ]]; then __sluice_words ${quoted(names.join(" "))}; else ${fill(command.args?.[0]?.completes)}; fi ;;`,
		].join("\n");
	});
	return `# bash completion for sluice. In ~/.bashrc: source <(sluice completion bash)

__sluice_words() { local IFS=$' \\t\\n'; COMPREPLY=($(compgen -W "$1" -- "$cur")); }
__sluice_ask() { local IFS=$'\\n'; COMPREPLY=($(compgen -W "$(sluice __complete "$1" 2>/dev/null | cut -f1)" -- "$cur")); }
__sluice_files() { local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); }
__sluice_folders() { local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")); }

_sluice() {
	local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= word i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=\${COMP_WORDS[i]}
		# After -- stands a command of its own.
		if [[ $word == -- ]]; then __sluice_files; return; fi
		if [[ $word == --home ]]; then ((i++)); continue; fi
		[[ $word == -* ]] && continue
		if [[ -z $command ]]; then command=$word
			case $command in ${groupsOf(commands).join("|")}) continue ;; *) break ;; esac
		else command="$command $word"; break; fi
	done
	for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do if [[ $word == -- ]]; then __sluice_files; return; fi; done
	case $command in
	'') if [[ $prev == --home ]]; then __sluice_folders; else __sluice_words ${quoted([...firstWords(commands), "help", ...GLOBAL_OPTIONS.map(({ name }) => `--${name}`)].join(" "))}; fi ;;
${groupsOf(commands)
	.map((group) => `\t${quoted(group)}) __sluice_words ${quoted(verbsOf(commands, group).join(" "))} ;;`)
	.join("\n")}
${cases.join("\n")}
	esac
}
complete -F _sluice sluice
`;
}

export function zsh(commands: readonly CommandSpec[]): string {
	/** Descriptions are in single quotes, with colons and brackets escaped for zsh. */
	const safe = (text: string) => text.replace(/[[\]:\\]/g, "\\$&").replaceAll("'", "'\\''");
	const fill = (completes: Completes | undefined) =>
		action(completes, {
			words: (list) => `(${list.join(" ")})`,
			ask: (kind) => `__sluice_${kind}s`,
			file: "_files",
			folder: "_files -/",
			nothing: " ",
		});
	const argumentsOf = (command: CommandSpec) => [
		...optionsOf(command).flatMap((option) =>
			written(option).map((name) => {
				const again = option.type === "list" ? "*" : "";
				const value = option.type === "flag" ? "" : `:${safe(option.value ?? "VALUE")}:${fill(valuesOf(option))}`;
				return `'${again}${name}[${safe(option.help)}]${value}'`;
			}),
		),
		...(command.args ?? []).map(
			(arg) => `'${arg.take === "many" || arg.take === "any" ? "*" : ""}:${safe(arg.name)}:${fill(arg.completes)}'`,
		),
	];
	const described = (rows: readonly (readonly [string, string])[]) =>
		rows.map(([name, help]) => `'${name.replaceAll(":", "\\:")}:${safe(help)}'`).join(" ");
	const helpOf = (word: string) => visible(commands).find(({ name }) => name === word)?.help ?? verbsOf(commands, word).join(", ");
	return `#compdef sluice
# zsh completion for sluice. In a folder of your fpath, as _sluice.

__sluice_ask() {
	local -a offers
	local word says
	while IFS=$'\\t' read -r word says; do offers+=("\${word//:/\\\\:}:\${says}"); done < <(sluice __complete $1 2>/dev/null)
	_describe $1 offers
}
__sluice_jobs() { __sluice_ask job }
__sluice_lanes() { __sluice_ask lane }
__sluice_hosts() { __sluice_ask host }

_sluice() {
	local -a commands verbs
	local command=\${words[2]}
	if (( CURRENT == 2 )); then
		commands=(${described(firstWords(commands).map((word) => [word, helpOf(word)]))})
		_describe command commands
		return
	fi
	case $command in
${groupsOf(commands)
	.map(
		(group) =>
			`\t${group}) if (( CURRENT == 3 )); then verbs=(${described(verbsOf(commands, group).map((verb) => [verb, helpOf(`${group} ${verb}`)]))}); _describe verb verbs; return; fi; command="$command \${words[3]}"; shift words; (( CURRENT-- )) ;;`,
	)
	.join("\n")}
	esac
	shift words; (( CURRENT-- ))
	case $command in
${visible(commands)
	.map((command) => `\t'${command.name}') _arguments ${argumentsOf(command).join(" ")}${command.rest ? " '*:::command:_normal'" : ""} ;;`)
	.join("\n")}
	esac
}
if [[ $funcstack[1] == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
`;
}

export function fish(commands: readonly CommandSpec[]): string {
	const fill = (completes: Completes | undefined) =>
		action(completes, {
			words: (list) => ` -xa ${quoted(list.join(" "))}`,
			ask: (kind) => ` -xa '(sluice __complete ${kind} 2>/dev/null)'`,
			file: " -rF",
			folder: " -xa '(__fish_complete_directories)'",
			nothing: " -x",
		});
	const plainArgument = (completes: Completes) =>
		action(completes, {
			words: (list) => ` -a ${quoted(list.join(" "))}`,
			ask: (kind) => ` -a '(sluice __complete ${kind} 2>/dev/null)'`,
			file: " -F",
			folder: " -a '(__fish_complete_directories)'",
		});
	const seen = (command: CommandSpec) => {
		const [first, second] = command.name.split(" ");
		return second === undefined
			? `__fish_seen_subcommand_from ${first}`
			: `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
	};
	const option = (condition: string, one: OptionSpec) =>
		`complete -c sluice${condition} -l ${one.name}${one.short ? ` -s ${one.short}` : ""}${one.type === "flag" ? "" : fill(valuesOf(one))} -d ${quoted(one.help)}`;
	const helpOf = (word: string) => visible(commands).find(({ name }) => name === word)?.help ?? verbsOf(commands, word).join(", ");
	return [
		"# fish completion for sluice. In ~/.config/fish/completions/sluice.fish",
		"complete -c sluice -f",
		...GLOBAL_OPTIONS.map((one) => option("", one)),
		...firstWords(commands).map((word) => `complete -c sluice -n __fish_use_subcommand -a ${word} -d ${quoted(helpOf(word))}`),
		...groupsOf(commands).flatMap((group) => {
			const verbs = verbsOf(commands, group);
			const condition = `__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${verbs.join(" ")}`;
			return verbs.map((verb) => `complete -c sluice -n ${quoted(condition)} -a ${verb} -d ${quoted(helpOf(`${group} ${verb}`))}`);
		}),
		...visible(commands).flatMap((command) => [
			...(command.options ?? []).map((one) => option(` -n ${quoted(seen(command))}`, one)),
			...(command.args?.[0]?.completes === undefined
				? []
				: [`complete -c sluice -n ${quoted(seen(command))}${plainArgument(command.args[0].completes)}`]),
		]),
		"",
	].join("\n");
}
