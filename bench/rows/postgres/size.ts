// How large the tables of a database are, and how much of them is dead: what vacuum has left to do.

import { query } from "../../postgres.ts";

const MB = 2 ** 20;

export async function databaseMb(url: string): Promise<number> {
	const [row] = await query<{ size: string }>(url, "SELECT pg_database_size(current_database()) AS size");
	return Number(row?.size) / MB;
}

type TableSize = { name: string; heap: string; indexes: string; live: string; dead: string; vacuums: string };

/** Heap and indexes of the hot tables, in megabytes, by table. */
export async function tableSizes(
	url: string,
): Promise<Map<string, { heap: number; indexes: number; live: number; dead: number; vacuums: number }>> {
	const rows = await query<TableSize>(
		url,
		`SELECT relname AS name, pg_table_size(relid) AS heap, pg_indexes_size(relid) AS indexes, n_live_tup AS live, n_dead_tup AS dead,
	vacuum_count + autovacuum_count AS vacuums FROM pg_stat_user_tables WHERE schemaname = 'sluice' ORDER BY pg_total_relation_size(relid) DESC`,
	);
	return new Map(
		rows.map(({ name, heap, indexes, live, dead, vacuums }) => [
			name,
			{ heap: Number(heap) / MB, indexes: Number(indexes) / MB, live: Number(live), dead: Number(dead), vacuums: Number(vacuums) },
		]),
	);
}

/** In one line. */
export async function tables(url: string): Promise<string> {
	return [...(await tableSizes(url))]
		.filter(([, { heap, indexes }]) => heap + indexes >= 0.1)
		.map(
			([name, { heap, indexes, live, dead, vacuums }]) =>
				`${name} ${heap.toFixed(1)} + ${indexes.toFixed(1)} MB of indexes, ${live.toLocaleString("en")} live and ${dead.toLocaleString("en")} dead rows, ${vacuums} vacuums`,
		)
		.join("; ");
}
