// Tables of the benchmark, and the savings of the requested VMAF.
import { summarizeVmaf } from "#shared/plan/vmaf/score.ts";
import type { ClipResult, Encode } from "./encodes.ts";

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row), ""].join("\n");

const decimal = (value: number): string => value.toFixed(1);
const percent = (value: number): string => `${Math.round(value * 100)} %`;

export const perClipTable = (results: readonly ClipResult[]): string =>
  table(
    [
      "clip",
      "rate factor",
      "kbit/s",
      "VMAF mean",
      "harmonic",
      "1st percentile",
      "in the samples",
      "tried",
      "ended",
      "search, encode = 1",
    ],
    results.map(({ clip, searched: { report, cpuSeconds }, target }) => [
      clip,
      target.rateFactor,
      Math.round(target.kbps),
      decimal(target.mean),
      decimal(target.harmonic_mean),
      decimal(target.percentile_1),
      report.samples ? `${decimal(report.samples.harmonic_mean)}, ${decimal(report.samples.percentile_1)}` : "",
      report.tried.map(({ rate_factor, score }) => `${rate_factor}: ${decimal(score)}`).join(", "),
      report.ended,
      percent(cpuSeconds / target.cpuSeconds),
    ]),
  );

/** The results of all clips together. */
type SetResult = { readonly kbps: number; readonly percentile_1: number; readonly mean: number };

function setOf(encodes: readonly Encode[]): SetResult {
  const { percentile_1, mean } = summarizeVmaf(encodes.flatMap(({ frames }) => frames));
  return { kbps: encodes.reduce((sum, { kbps }) => sum + kbps, 0) / encodes.length, percentile_1, mean };
}

const fixedSets = (results: readonly ClipResult[]): (SetResult & { rateFactor: number })[] =>
  (results[0]?.fixed ?? []).map(({ rateFactor }, at) => ({
    rateFactor,
    ...setOf(results.flatMap(({ fixed }) => fixed[at] ?? [])),
  }));

export const fixedTable = (results: readonly ClipResult[]): string =>
  table(
    [
      "all clips",
      "kbit/s",
      "VMAF mean",
      "1st percentile",
      ...results.map(({ clip }) => `${clip}: kbit/s, 1st percentile`),
    ],
    [
      ...fixedSets(results).map((set, at) =>
        setRow(
          `rate factor ${set.rateFactor}`,
          set,
          results.map(({ fixed }) => fixed[at]),
        ),
      ),
      setRow(
        "searched",
        setOf(results.map(({ target }) => target)),
        results.map(({ target }) => target),
      ),
    ],
  );

const setRow = (name: string, set: SetResult, encodes: readonly (Encode | undefined)[]): string[] => [
  name,
  String(Math.round(set.kbps)),
  decimal(set.mean),
  decimal(set.percentile_1),
  ...encodes.map((encode) => (encode ? `${Math.round(encode.kbps)}, ${decimal(encode.percentile_1)}` : "")),
];

/** The share of bits saved over one fixed rate factor with the same first percentile of all frames. */
export function savings(results: readonly ClipResult[]): string {
  const searched = setOf(results.map(({ target }) => target));
  const sets = fixedSets(results).toSorted((a, b) => a.percentile_1 - b.percentile_1);
  const above = sets.findIndex(({ percentile_1 }) => percentile_1 >= searched.percentile_1);
  const at = Math.max(1, above === -1 ? sets.length - 1 : above);
  const [low, high] = [sets[at - 1], sets[at]];
  if (!low || !high) return "too few fixed rate factors";
  const share = (searched.percentile_1 - low.percentile_1) / (high.percentile_1 - low.percentile_1);
  const kbps = Math.exp(Math.log(low.kbps) + share * (Math.log(high.kbps) - Math.log(low.kbps)));
  const factor = low.rateFactor + share * (high.rateFactor - low.rateFactor);
  const cpu = (of: (result: ClipResult) => number): number => results.reduce((sum, result) => sum + of(result), 0);
  const search = cpu(({ searched: { cpuSeconds } }) => cpuSeconds) / cpu(({ target }) => target.cpuSeconds);
  const parts = (["keep", "encode", "measure"] as const).map(
    (part) =>
      `${part} ${percent(cpu(({ searched: { cost } }) => cost[part]) / cpu(({ target }) => target.cpuSeconds))}`,
  );
  return [
    `searched: ${Math.round(searched.kbps)} kbit/s; one rate factor with the same 1st percentile (${decimal(searched.percentile_1)}): `,
    `${Math.round(kbps)} kbit/s at ${factor.toFixed(1)}${above === -1 || share < 0 ? " (extrapolated)" : ""}; `,
    `${percent(1 - searched.kbps / kbps)} fewer bits; search ${percent(search)} of the encodes' CPU (${parts.join(", ")})`,
  ].join("");
}
