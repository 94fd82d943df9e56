// What of an object was given: a field that is undefined is left out, because the types of documents tell "absent" from "undefined".

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

export const given = <T extends object>(fields: T): Given<T> => {
	const kept: Given<T> = {};
	for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key] as Exclude<T[typeof key], undefined>;
	return kept;
};
