// Measures what leaving out similar variants saves and costs, for several shares of bits that count as similar.
// `node local/bootstrap.mjs bench/similar-variants.ts [vmaf] [seconds] [heights]` prints tables. For each clip the rate
// factors of a ladder are searched, by default of the default one, and each rendition is encoded, and measured as a
// player on a screen of 1080p shows it.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { isEncodedVideo } from "#shared/plan/plan-file.ts";
import { MADE_TIMES, QUALITY_LOG, qualityFile, REFERENCE_TIMES } from "#shared/plan/quality/compare-video.ts";
import { planQualities } from "#shared/plan/quality/plan-quality.ts";
import { readSamples } from "#shared/plan/quality/read-samples.ts";
import { summarizeQuality } from "#shared/plan/quality/summarize-quality.ts";
import { type Rung, SIMILAR_SHARE, similarRungs } from "#shared/plan/target/similar-videos.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { CLIPS, HEIGHT, makeClip } from "./target-quality/clips.ts";
import { type EncodedClip, encodeClip, searchTogether, type Tools, timed } from "./target-quality/encodes.ts";

const [vmafText = "93", secondsText = "1.6", heightsText = "1080,720,480,360,240"] = process.argv.slice(2);
/** From the largest, which has the size of the source, to the smallest. */
const HEIGHTS = heightsText.split(",").map(Number);
const SHARES = [0.5, 0.6, 0.7, 0.75, SIMILAR_SHARE, 0.85, 0.9];
/** As many as a quality report measures: docs/quality.md. */
const PER_SECOND = 4;

/** A rendition as it was encoded. `vmaf`: on the screen. */
type Rendition = Rung & { readonly kbps: number; readonly cpuSeconds: number; readonly vmaf: number };
type Ladder = { readonly clip: string; readonly renditions: readonly Rendition[] };

async function ladderOf(tools: Tools, clip: string): Promise<Ladder> {
  const source = await makeClip(tools, clip, Number(secondsText), (HEIGHTS[0] ?? 0) / HEIGHT);
  const { reports } = await searchTogether(
    tools,
    source,
    HEIGHTS.map((height) => `mp4:x${height}:x:quality=vmaf${vmafText}`),
  );
  const made: EncodedClip[] = [];
  for (const [at, height] of HEIGHTS.entries())
    made.push(await encodeClip(tools, source, `mp4:x${height}`, reports[at]?.rateFactor ?? 0));
  const vmaf = await measured(tools, source, made);
  const renditions = made.map(({ kbps, cpuSeconds }, at): Rendition => {
    const height = HEIGHTS[at] ?? 0;
    const size = { track: `${height}p`, width: (height * 16) / 9, height, kind: "" };
    // The service decides by the bits of the samples.
    return { ...size, kbps: reports[at]?.measured?.kbps ?? kbps, cpuSeconds, vmaf: vmaf[at] ?? Number.NaN };
  });
  await rm(source);
  return { clip, renditions };
}

/** The mean VMAF of each, shown as large as the screen. */
async function measured({ ffmpeg, folder }: Tools, source: string, made: readonly EncodedClip[]): Promise<number[]> {
  const cwd = await mkdtemp(join(folder, "measure-"));
  const planned = planQualities(
    made.map(({ spec, probe, file }) => {
      if (!spec.video || !isEncodedVideo(spec.video)) throw new Error("No video was encoded");
      const request = { output: spec, video: spec.video, probe, source, made: file, capabilities: ALL_SOFTWARE };
      return { ...request, perSecond: PER_SECOND, threads: 1 };
    }),
  );
  if (!planned.ok) throw new Error(planned.error.message);
  await timed(ffmpeg, planned.value.run.argv, cwd);
  const means: number[] = [];
  for (const [at, { fps }] of planned.value.views.entries()) {
    const [log = "", madeTimes = "", referenceTimes = ""] = await Promise.all(
      [QUALITY_LOG, MADE_TIMES, REFERENCE_TIMES].map((name) => readFile(join(cwd, qualityFile(name, at)), "utf8")),
    );
    const samples = readSamples({ log, madeTimes, referenceTimes }, fps);
    means.push(samples ? summarizeQuality(samples).vmaf.mean : Number.NaN);
  }
  return means;
}

const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((total, item) => total + of(item), 0);
const percent = (value: number): string => `${Math.round(value * 100)} %`;
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row), ""].join("\n");

/** Each rendition's bits, their share of the next larger one's, and its VMAF. */
const rungTable = (ladders: readonly Ladder[]): string =>
  table(
    ["clip: kbit/s, share of the next larger one, VMAF on the screen", ...HEIGHTS.map((height) => `${height}p`)],
    ladders.map(({ clip, renditions }) => [
      clip,
      ...renditions.map(({ kbps, vmaf }, at) => {
        const above = renditions[at - 1];
        return `${Math.round(kbps)}${above ? `, ${(kbps / above.kbps).toFixed(2)}` : ""}, ${vmaf.toFixed(1)}`;
      }),
    ]),
  );

/**
 * What a player loses whose connection is fast enough for a dropped rendition and too slow for the one above: it plays
 * the next smaller one. `octaves`: how wide this range of connections is, as a logarithm to base 2.
 */
type Loss = { readonly name: string; readonly vmaf: number; readonly octaves: number };

function lossesOf({ clip, renditions }: Ladder, share: number): Loss[] {
  const dropped = new Set(similarRungs(renditions, share).map(({ track }) => track));
  const kept = renditions.filter(({ track }) => !dropped.has(track));
  return renditions.flatMap((one): Loss[] => {
    if (!dropped.has(one.track)) return [];
    const above = kept.findLast(({ height }) => height > one.height);
    const below = kept.find(({ height }) => height < one.height);
    if (!above || !below) return [];
    const octaves = Math.max(0, Math.log2(above.kbps / one.kbps));
    return [{ name: `${clip} ${one.track}`, vmaf: one.vmaf - below.vmaf, octaves }];
  });
}

/** Bits and encode CPU of the whole set that shares save: means of the clips, so that each counts the same. */
function shareRow(ladders: readonly Ladder[], share: number): (string | number)[] {
  const saved = (of: (rendition: Rendition) => number): number =>
    sum(ladders, ({ renditions }) => {
      const dropped = new Set(similarRungs(renditions, share).map(({ track }) => track));
      return (
        sum(
          renditions.filter(({ track }) => dropped.has(track)),
          of,
        ) / sum(renditions, of)
      );
    }) / ladders.length;
  const losses = ladders.flatMap((ladder) => lossesOf(ladder, share));
  const octaves = sum(losses, (loss) => loss.octaves);
  const lost = sum(losses, ({ vmaf, octaves: wide }) => vmaf * wide);
  const ofAll = sum(ladders, ({ renditions }) =>
    Math.log2((renditions[0]?.kbps ?? 1) / (renditions.at(-1)?.kbps ?? 1)),
  );
  return [
    share === SIMILAR_SHARE ? `**${share}**` : share,
    losses.map(({ name, vmaf, octaves: wide }) => (wide > 0 ? `${name} (${vmaf.toFixed(1)})` : name)).join(", "),
    percent(saved(({ kbps }) => kbps)),
    percent(saved(({ cpuSeconds }) => cpuSeconds)),
    percent(octaves / ofAll),
    octaves > 0 ? (lost / octaves).toFixed(1) : "",
    (lost / ofAll).toFixed(2),
  ];
}

// Those of distributions lack libvmaf.
const { ffmpeg, ffprobe } = await locateFfmpeg({ ...process.env, PATH: "" });
const folder = await mkdtemp(join(tmpdir(), "copra-similar-"));
try {
  const ladders: Ladder[] = [];
  for (const clip of Object.keys(CLIPS)) ladders.push(await ladderOf({ ffmpeg, ffprobe, folder }, clip));
  console.log(rungTable(ladders));
  console.log(
    table(
      [
        "more than this share",
        "left out (VMAF that players between lose)",
        "bits saved",
        "encode CPU saved",
        "connections between, of the ladder's range",
        "VMAF that these lose",
        "all connections",
      ],
      SHARES.map((share) => shareRow(ladders, share)),
    ),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
