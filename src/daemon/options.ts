// What a daemon is started with, besides its settings.

export type DaemonOptions = {
	home: string;
	/** Over the settings. */
	port?: number | null | undefined;
	store?: string | undefined;
	name?: string | undefined;
	labels?: readonly string[] | undefined;
	env?: Record<string, string | undefined>;
	/** Each line of the log, for a person who watches. */
	echo?: (line: string) => void;
};

export function flagsOf({ port, store, name, labels = [] }: DaemonOptions): Record<string, Record<string, unknown>> {
	return {
		...(port === undefined ? {} : { "--port": { port } }),
		...(store === undefined ? {} : { "--store": { store } }),
		...(name === undefined ? {} : { "--name": { host: { name } } }),
		...(labels.length === 0 ? {} : { "--label": { host: { labels } } }),
	};
}
