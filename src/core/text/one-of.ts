// Whether a text is one of the words of a list, or one of the keys of a table: what the compiler then knows of it, too.

export const isOneOf = <T extends string>(value: unknown, list: readonly T[]): value is T =>
	typeof value === "string" && (list as readonly string[]).includes(value);

export const isKeyOf = <T extends object>(value: string, table: T): value is keyof T & string => Object.hasOwn(table, value);
