// Prints metrics in the text formats of Prometheus: OpenMetrics 1.0, and its own format 0.0.4 for older readers.

export type Labels = Readonly<Record<string, string>>;
export type Sample = { readonly labels: Labels; readonly value: number };

/** A histogram: the number of observations within each bound, the number of all observations, and their sum. */
export type Histogram = {
  readonly labels: Labels;
  readonly within: readonly (readonly [bound: number, count: number])[];
  readonly count: number;
  readonly sum: number;
};

/** The number of observations, and their sum. */
export type Summary = { readonly labels: Labels; readonly count: number; readonly sum: number };

/** A metric without the suffixes of its samples. */
export type Metric = { readonly name: string; readonly help: string } & (
  | { readonly type: "gauge" | "counter"; readonly samples: readonly Sample[] }
  | { readonly type: "histogram"; readonly histograms: readonly Histogram[] }
  | { readonly type: "summary"; readonly summaries: readonly Summary[] }
);

export const FORMATS = {
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
  text: "text/plain; version=0.0.4; charset=utf-8",
} as const;
export type Format = keyof typeof FORMATS;

/** The format that a reader asks for in its `Accept` header. */
export const formatFor = (accept: string | undefined): Format =>
  accept?.includes("application/openmetrics-text") ? "openmetrics" : "text";

/** Prints metrics. Metrics without samples are left out. */
export function printMetrics(metrics: readonly Metric[], format: Format): string {
  const reported = metrics.filter((metric) => seriesOf(metric).length > 0);
  const lines = reported.flatMap((metric) => linesOf(metric, format));
  return [...lines, ...(format === "openmetrics" ? ["# EOF"] : []), ""].join("\n");
}

function seriesOf(metric: Metric): readonly unknown[] {
  if ("samples" in metric) return metric.samples;
  return "histograms" in metric ? metric.histograms : metric.summaries;
}

function linesOf(metric: Metric, format: Format): string[] {
  const { name, type, help } = metric;
  const sample = type === "counter" ? `${name}_total` : name;
  // In format 0.0.4, a counter has the name of its samples.
  const family = format === "openmetrics" ? name : sample;
  const about = [`# HELP ${family} ${help}`, `# TYPE ${family} ${type}`];
  if (metric.type === "histogram") return [...about, ...metric.histograms.flatMap((entry) => histogram(name, entry))];
  if (metric.type === "summary") return [...about, ...metric.summaries.flatMap((entry) => totals(name, entry))];
  return [...about, ...metric.samples.map(({ labels, value }) => line(sample, labels, value))];
}

function histogram(name: string, { labels, within, count, sum }: Histogram): string[] {
  return [
    ...within.map(([bound, number]) => line(`${name}_bucket`, { ...labels, le: String(bound) }, number)),
    line(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
    ...totals(name, { labels, count, sum }),
  ];
}

const totals = (name: string, { labels, count, sum }: Summary): string[] => [
  line(`${name}_count`, labels, count),
  line(`${name}_sum`, labels, sum),
];

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
