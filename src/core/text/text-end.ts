// Strips characters from the end of a text. A regular expression such as /\/+$/ would take quadratic time.

/** The text without trailing characters that are in `chars`. */
export function withoutEnd(text: string, chars: string): string {
	let end = text.length;
	while (end > 0 && chars.includes(text[end - 1] as string)) end--;
	return text.slice(0, end);
}
