// Colours for source code, line by line: keywords, strings, comments, numbers of the usual languages, by the file's name. Pure, and linear in the line.

type CodeKind = "keyword" | "string" | "comment" | "number" | "";
export type CodeToken = { text: string; kind: CodeKind };
/** What the line before left open: the sign that ends it, and what it is. */
export type CodeState = { until: string; kind: "string" | "comment" } | null;

type Language = {
	keywords: ReadonlySet<string>;
	/** Signs that begin a comment up to the end of the line. */
	line: readonly string[];
	/** Comments and strings that may go over several lines. */
	blocks: readonly { begin: string; end: string; kind: "string" | "comment" }[];
	quotes: string;
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const C_COMMENT = { begin: "/*", end: "*/", kind: "comment" } as const;
const like = (keywords: string, more: Partial<Language> = {}): Language => ({
	keywords: words(keywords),
	line: ["//"],
	blocks: [C_COMMENT],
	quotes: "\"'",
	...more,
});

const script = like(
	"abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number of private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined unknown var void while with yield",
	{ blocks: [C_COMMENT, { begin: "`", end: "`", kind: "string" }] },
);
const python = like(
	"False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
	{
		line: ["#"],
		blocks: [
			{ begin: '"""', end: '"""', kind: "string" },
			{ begin: "'''", end: "'''", kind: "string" },
		],
	},
);
const c = like(
	"alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend goto if inline int interface internal let long module namespace new noexcept null nullptr operator override private protected public register return sealed short signed sizeof static string struct super switch template this throw throws true try typedef typename union unsigned using var virtual void volatile while yield abstract extends implements import package synchronized instanceof fun val when object data companion suspend in is as func guard defer protocol extension where async await",
);
const go = like(
	"any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 interface iota map nil package range return rune select string struct switch true type uint var",
	{ blocks: [C_COMMENT, { begin: "`", end: "`", kind: "string" }] },
);
const rust = like(
	"as async await bool break char const continue crate dyn else enum extern false fn for i32 i64 if impl in let loop match mod move mut pub ref return self Self static str String struct super trait true type u32 u64 u8 unsafe use usize where while",
	{ quotes: '"' },
);
const ruby = like(
	"BEGIN END alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require attr_accessor attr_reader",
	{ line: ["#"], blocks: [] },
);
const shell = like(
	"case do done elif else esac export fi for function if in local readonly return set shift then until while exit eval exec trap unset",
	{
		line: ["#"],
		blocks: [],
	},
);
const sql = like(
	"add all alter and as asc begin between by case check column commit constraint create default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with",
	{ line: ["--"] },
);
const data = like("true false null yes no on off", { line: ["#"], blocks: [] });
const json = like("true false null", { line: [], blocks: [], quotes: '"' });
const css = like("important media supports import keyframes font-face root and not only", { line: [], quotes: "\"'" });
const markup = like("", { line: [], blocks: [{ begin: "<!--", end: "-->", kind: "comment" }] });
const lua = like("and break do else elseif end false for function goto if in local nil not or repeat return then true until while", {
	line: ["--"],
	blocks: [],
});

const BY_ENDING: Record<string, Language> = {
	...of(script, "ts tsx js jsx mjs cjs mts cts"),
	...of(python, "py pyi bzl"),
	...of(c, "c h cc cpp cxx hpp hh java kt kts scala cs swift php dart groovy gradle proto m"),
	...of(go, "go"),
	...of(rust, "rs"),
	...of(ruby, "rb rake gemspec ex exs"),
	...of(shell, "sh bash zsh fish dockerfile makefile mk"),
	...of(sql, "sql"),
	...of(data, "yml yaml toml ini conf cfg properties env tf"),
	...of(json, "json jsonc json5"),
	...of(css, "css scss less"),
	...of(markup, "html htm xml svg vue svelte"),
	...of(lua, "lua"),
};

function of(language: Language, endings: string): Record<string, Language> {
	return Object.fromEntries(endings.split(" ").map((ending) => [ending, language]));
}

/** Null for a file whose language is not known. */
export function languageOf(path: string): Language | null {
	const name = (path.split("/").at(-1) ?? "").toLowerCase();
	const ending = name.includes(".") ? (name.split(".").at(-1) ?? "") : name;
	return Object.hasOwn(BY_ENDING, ending) ? (BY_ENDING[ending] ?? null) : null;
}

/** Longer lines stay as they are. */
const LONGEST = 2000;
const PLAIN = /^(?:[A-Za-z_$][\w$-]*|\d[\w.]*|\s+|.)/su;

export function highlight(line: string, language: Language, before: CodeState): { tokens: CodeToken[]; after: CodeState } {
	if (line.length > LONGEST) return { tokens: [{ text: line, kind: "" }], after: null };
	const tokens: CodeToken[] = [];
	const add = (text: string, kind: CodeKind) => {
		const last = tokens.at(-1);
		if (last?.kind === kind) last.text += text;
		else if (text !== "") tokens.push({ text, kind });
	};
	let state = before;
	for (let at = 0; at < line.length; ) {
		if (state) {
			const end: number = endOf(line, at, state.until);
			add(line.slice(at, end < 0 ? line.length : end), state.kind);
			if (end < 0) return { tokens, after: state };
			[at, state] = [end, null];
			continue;
		}
		if (language.line.some((sign) => line.startsWith(sign, at) && (sign !== "#" || at === 0 || /\s/.test(line[at - 1] as string)))) {
			add(line.slice(at), "comment");
			break;
		}
		const block = language.blocks.find(({ begin }) => line.startsWith(begin, at));
		if (block) {
			add(block.begin, block.kind);
			at += block.begin.length;
			state = { until: block.end, kind: block.kind };
			continue;
		}
		const sign = line[at] as string;
		if (language.quotes.includes(sign)) {
			const end = endOf(line, at + 1, sign);
			add(line.slice(at, end < 0 ? line.length : end), "string");
			at = end < 0 ? line.length : end;
			continue;
		}
		const [word = sign] = PLAIN.exec(line.slice(at)) ?? [];
		add(word, /^\d/.test(word) ? "number" : language.keywords.has(language === sql ? word.toLowerCase() : word) ? "keyword" : "");
		at += word.length;
	}
	return { tokens, after: state };
}

/** Behind the sign that ends a string or a comment; a backslash hides the next sign. −1: not in this line. */
function endOf(line: string, from: number, until: string): number {
	for (let at = from; at < line.length; at++) {
		if (line[at] === "\\" && until !== "*/" && until !== "-->") at++;
		else if (line.startsWith(until, at)) return at + until.length;
	}
	return -1;
}
