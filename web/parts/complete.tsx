// A text field with completions for the word at the cursor: arrow keys choose, Enter or Tab takes, Escape closes the list.

import { useRef, useState } from "preact/hooks";

/** A completion: `text` replaces the word, `about` is shown beside it. */
export type Completion = { text: string; words?: string; about?: string };
/** The piece of the text that is completed, and with what. */
export type Suggestion = { from: number; to: number; options: readonly Completion[] };

export type CompleteProps = {
	id: string;
	label?: string;
	placeholder?: string;
	value: string;
	set: (text: string) => void;
	/** `all`: the person has asked for the list, also without a letter. */
	suggest: (text: string, caret: number, how: "typed" | "all") => Suggestion | null;
	/** Escape: `closes` only the list, or is `passed` on, to leave the field. */
	onEscape?: "closes" | "passed";
	invalid?: boolean;
	describedBy?: string | undefined;
};

/** The word at the cursor, in a text of words with spaces or commas between them. */
export function wordAt(text: string, caret: number): { from: number; to: number; word: string } {
	const from = caret - (/[^\s,]*$/.exec(text.slice(0, caret))?.[0].length ?? 0);
	const to = caret + (/^[^\s,]*/.exec(text.slice(caret))?.[0].length ?? 0);
	return { from, to, word: text.slice(from, caret) };
}

/** What was typed is shown at once: the state around it is drawn a frame later, and must not take back a letter that came meanwhile. */
function useTyped(given: string, tell: (text: string) => void) {
	const text = useRef(given);
	const seen = useRef(given);
	if (seen.current !== given) {
		seen.current = given;
		text.current = given;
	}
	const set = (next: string) => {
		text.current = next;
		tell(next);
	};
	return { value: text.current, set };
}

const isPlain = (event: KeyboardEvent): boolean => !(event.isComposing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);

export function Complete({
	id,
	label,
	placeholder,
	value: given,
	set: tell,
	suggest,
	onEscape = "closes",
	invalid,
	describedBy,
}: CompleteProps) {
	const input = useRef<HTMLInputElement>(null);
	const { value, set } = useTyped(given, tell);
	const [caret, setCaret] = useState<number | null>(null);
	const [chosen, choose] = useState(-1);
	const [isAsked, setAsked] = useState(false);
	const found = caret === null ? null : suggest(value, caret, isAsked ? "all" : "typed");
	const options = found?.options ?? [];
	const see = (asked = false) => {
		setAsked(asked);
		setCaret(input.current?.selectionStart ?? null);
		choose(-1);
	};
	const take = (option: Completion | undefined) => {
		if (!found || !option) return;
		const at = found.from + option.text.length;
		set(value.slice(0, found.from) + option.text + value.slice(found.to).replace(/^\s+/, ""));
		choose(-1);
		setCaret(at);
		setAsked(option.text.endsWith(":"));
		requestAnimationFrame(() => {
			input.current?.focus();
			input.current?.setSelectionRange(at, at);
		});
	};
	const isOpen = options.length > 0;
	const keys: Record<string, (() => void) | false> = {
		ArrowDown: isOpen ? () => choose((chosen + 1) % options.length) : () => see(true),
		ArrowUp: isOpen && (() => choose((chosen - 1 + options.length) % options.length)),
		Enter: isOpen && chosen >= 0 && (() => take(options[chosen])),
		Tab: isOpen && (() => take(options[Math.max(0, chosen)])),
		Escape: isOpen && (() => setCaret(null)),
	};
	return (
		<span class="complete">
			<input
				ref={input}
				id={id}
				type="text"
				role="combobox"
				aria-label={label}
				aria-expanded={isOpen}
				aria-controls={`${id}-options`}
				aria-autocomplete="list"
				aria-activedescendant={isOpen && chosen >= 0 ? `${id}-option-${chosen}` : undefined}
				aria-invalid={invalid}
				aria-describedby={describedBy}
				placeholder={placeholder}
				autocomplete="off"
				spellcheck={false}
				value={value}
				onInput={(event) => {
					set(event.currentTarget.value);
					see();
				}}
				onBlur={() => setCaret(null)}
				onKeyDown={(event) => {
					const does = isPlain(event) ? keys[event.key] : false;
					if (!does) return;
					does();
					if (event.key === "Escape" && onEscape === "passed") return;
					event.preventDefault();
					event.stopPropagation();
				}}
				onKeyUp={(event) => void (/^(?:Arrow(?:Left|Right)|Home|End)$/.test(event.key) && see())}
			/>
			<Options id={id} options={options} chosen={chosen} take={take} />
		</span>
	);
}

type OptionsProps = { id: string; options: readonly Completion[]; chosen: number; take: (option: Completion) => void };

function Options({ id, options, chosen, take }: OptionsProps) {
	return (
		<span id={`${id}-options`} role="listbox" aria-label="Completions" class={options.length > 0 ? "options" : "options none"}>
			{options.map((option, index) => (
				// biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys of the list
				<span
					key={option.text}
					id={`${id}-option-${index}`}
					role="option"
					tabIndex={-1}
					aria-selected={index === chosen}
					// The field keeps the focus.
					onMouseDown={(event) => event.preventDefault()}
					onClick={() => take(option)}
				>
					<bdi>{option.words ?? option.text}</bdi>
					{option.about ? <bdi class="dim">{option.about}</bdi> : null}
				</span>
			))}
		</span>
	);
}
