// Captions from speech in outputs of chunks, compared with the same outputs made in one piece.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { encodeInChunks, encodeWhole, type Outputs, openChunkTestBed } from "../testing/jobs/chunked-jobs.ts";
import { makeLosslessFfmpeg } from "../testing/processes/lossless-ffmpeg.ts";
import { counted, stubEngine } from "../testing/processes/speech-engines.ts";
import { tools } from "../testing/task-deps.ts";

const run = promisify(execFile);

/** Chunks start at 24 and 48 s. */
const SEGMENTS = [
  [1000, 3000, " One & first."],
  [22_500, 25_500, "Across."],
  [46_000, 49_000, "Über."],
  [68_000, 71_000, "End"],
].map(([t0, t1, text]) => ({ t0, t1, text }));

it("chunks have the captions of the whole, recognized once for all of them", async () => {
  const bed = await openChunkTestBed(["ntsc.mp4"]);
  const { engine, runs } = counted(await stubEngine(bed.folder, { segments: SEGMENTS }));
  const ffmpeg = await makeLosslessFfmpeg(bed.folder);
  const depsOf: typeof bed.node.depsOf = (lease, task, changes) => bed.node.depsOf(lease, task, { ...changes, ffmpeg });
  const testBed = { ...bed, speech: engine, node: { ...bed.node, depsOf } };
  const subtitles = [{ from: "speech" }, { from: "speech", language: "en", name: "Later", shift: 0.5 }];
  const stream = { hls: { path: "a" }, dash: { path: "b" }, variants: ["mp4:64x36"], subtitles };
  const requests: OutputOptions[] = [
    { format: "mp4:64x36", params: { subtitles } },
    { format: "mp4:64x36:noaudio", params: { burn: { from: "speech", size: 20 } } },
    { format: "httpstream", params: stream },
  ];
  const outputs = requests.map(specOf);
  try {
    const whole = await encodeWhole(testBed, "ntsc.mp4", outputs, { speech: engine });
    expect(runs()).toBe(2);
    const many = await encodeInChunks(testBed, "ntsc.mp4", outputs);
    expect(runs()).toBe(4);
    expect(speechIn(many)).toEqual(speechIn(whole));
    expect(speechIn(many)[1]).toEqual([{ model: "stub.bin", language: "en", words: 5 }]);
    expect(textsIn(many)).toEqual(textsIn(whole));
    expect(textsIn(many).join()).toContain("Across.");
    for (const index of [0, 1]) {
      expect(await contentOf(many, index, bed.folder)).toEqual(await contentOf(whole, index, bed.folder));
    }
  } finally {
    await bed.close();
  }
});

const speechIn = ({ result }: Outputs) =>
  result.outputs
    .toSorted((a, b) => a.output - b.output)
    .map((report) => ("speech" in report ? report.speech?.map(({ seconds: _, ...facts }) => facts) : report));

const textsIn = ({ storage }: Outputs): string[] =>
  [...storage.objects].flatMap(([name, bytes]) => (name.endsWith(".vtt") ? [bytes.toString()] : [])).toSorted();

/** Hashes of the frames, and packets of text. */
async function contentOf({ storage }: Outputs, index: number, folder: string): Promise<string[]> {
  const path = join(folder, "look.mp4");
  await writeFile(path, storage.objects.get(`${index}.1`) ?? "");
  const hash = ["-map", "0:v", "-map", "0:s?", "-c:s", "copy", "-f", "framehash", "-"];
  const { stdout } = await run(tools.ffmpeg.path, ["-v", "error", "-copyts", "-i", path, ...hash], { maxBuffer: 1e8 });
  return stdout.split("\n").toSorted();
}
