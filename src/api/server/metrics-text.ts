// Prometheus' text format, as far as we need it: gauges, counters, histograms.

type Sample = { labels?: Record<string, string>; value: number };
export type Family =
	| { name: string; help: string; type: "gauge" | "counter"; samples: Sample[] }
	| { name: string; help: string; type: "histogram"; histogram: Histogram };

export class Histogram {
	private readonly counts: number[];
	private sum = 0;

	/** Upper bounds, ascending. */
	constructor(private readonly bounds: readonly number[]) {
		this.counts = new Array<number>(bounds.length + 1).fill(0);
	}

	observe(value: number): void {
		const at = this.bounds.findIndex((bound) => value <= bound);
		const index = at < 0 ? this.bounds.length : at;
		this.counts[index] = (this.counts[index] as number) + 1;
		this.sum += value;
	}

	samples(name: string): string[] {
		let total = 0;
		const buckets = this.counts.map((count, index) => {
			total += count;
			return line(`${name}_bucket`, { le: index < this.bounds.length ? String(this.bounds[index]) : "+Inf" }, total);
		});
		return [...buckets, line(`${name}_sum`, {}, this.sum), line(`${name}_count`, {}, total)];
	}
}

const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

function line(name: string, labels: Record<string, string>, value: number): string {
	const inner = Object.entries(labels).map(([key, one]) => `${key}="${escaped(one)}"`);
	return `${name}${inner.length > 0 ? `{${inner.join(",")}}` : ""} ${value}`;
}

export function writeMetrics(families: readonly Family[]): string {
	const lines = families.flatMap((family) => [
		`# HELP ${family.name} ${family.help}`,
		`# TYPE ${family.name} ${family.type}`,
		...(family.type === "histogram"
			? family.histogram.samples(family.name)
			: family.samples.map(({ labels = {}, value }) => line(family.name, labels, value))),
	]);
	return `${lines.join("\n")}\n`;
}
