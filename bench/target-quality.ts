// Measures the savings of a requested VMAF over one fixed rate factor for all videos, and the cost of its search.
// `node local/bootstrap.mjs bench/target-quality.ts [vmaf] [seconds] [format] [--svg FILE]` prints tables, and draws
// the curves. For each clip: the search, the encode with the rate factor it found, and encodes with fixed rate factors.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { CLIPS, clipFile, makeClip } from "./target-quality/clips.ts";
import { curvesSvg } from "./target-quality/curves.ts";
import { type ClipResult, type Encode, encodeWith, searchFor, type Tools } from "./target-quality/encodes.ts";
import { fixedTable, perClipTable, savings } from "./target-quality/tables.ts";

const { values, positionals } = parseArgs({ options: { svg: { type: "string" } }, allowPositionals: true });
const [vmafText = "93", secondsText = "30", format = "mp4:h264"] = positionals;
/** Rate factors of the fixed encodes, around the rate factors of the quality steps. */
const FACTORS: Readonly<Record<string, readonly number[]>> = {
  "mp4:h264": [18, 20, 21, 24, 28],
  "mp4:hevc": [20, 23, 26, 30],
  "webm:vp9": [26, 32, 37, 42],
  "webm:av1": [26, 31, 36, 42],
};

async function measureClip(tools: Tools, clip: string): Promise<ClipResult> {
  const source = await makeClip(tools, clip, Number(secondsText));
  const searched = await searchFor(tools, source, `${format}:x:quality=vmaf${vmafText}`);
  const target = await encodeWith(tools, source, format, searched.report.rate_factor);
  const fixed: Encode[] = [];
  for (const factor of FACTORS[format] ?? []) fixed.push(await encodeWith(tools, source, format, factor));
  await rm(clipFile(tools, clip));
  return { clip, searched, target, fixed };
}

const { ffmpeg, ffprobe } =
  // Builds of distributions lack libvmaf.
  await locateFfmpeg({ ...process.env, PATH: "" });
const folder = await mkdtemp(join(tmpdir(), "copra-target-"));
try {
  const results: ClipResult[] = [];
  for (const clip of Object.keys(CLIPS)) results.push(await measureClip({ ffmpeg, ffprobe, folder }, clip));
  console.log(perClipTable(results));
  console.log(fixedTable(results));
  console.log(savings(results));
  if (values.svg) await writeFile(values.svg, curvesSvg(results, Number(vmafText)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
