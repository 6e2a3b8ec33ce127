// Videos that one node splits, compared with the same outputs encoded in one run.
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { withoutSandbox } from "../../ffmpeg/sandbox/isolation.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { CommandLog } from "../../task/command-log.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import {
  type ChunkTestBed,
  type Clip,
  encodeWhole,
  type Outputs,
  openChunkTestBed,
} from "../../testing/chunked-jobs.ts";
import { tools } from "../../testing/task-deps.ts";
import { splitEncode } from "./split-encode.ts";

let testBed: ChunkTestBed;
beforeAll(async () => {
  testBed = await openChunkTestBed(["ntsc.mp4", "clip.ts"]);
});
afterAll(() => testBed.close());

/** Many runs at a time compete with other tests for the cores. */
const TIMEOUT_MS = 240_000;

/** As on a machine that one run would not fill. */
const STRONG = { cpus: 64, memoryBytes: 2 ** 38 };

type Made = Outputs & { readonly commands: readonly string[]; readonly fractions: readonly number[] };

async function encodedOn(clip: Clip, requests: OutputOptions[], given: Partial<TaskDeps> = {}): Promise<Made> {
  const commands = new CommandLog();
  const fractions: number[] = [];
  const progress: TaskDeps["progress"] = (stage, fraction) => void (stage === "encoding" && fractions.push(fraction));
  const outputs = await encodeWhole(testBed, clip, requests.map(specOf), { commands, progress, ...given }, splitEncode);
  expect(await readdir(join(testBed.folder, "tasks"))).toEqual([]);
  return { ...outputs, commands: commands.reports().map(({ argv }) => argv.join(" ")), fractions };
}

const run = promisify(execFile);

/** The times and hashes of all decoded frames. */
async function decoded(bytes: Buffer | undefined, kind: "v" | "a", hash: boolean): Promise<string[]> {
  const folder = await mkdtemp(join(testBed.folder, "look-"));
  const path = join(folder, "made");
  await writeFile(path, bytes ?? "");
  const frames = ["-map", `0:${kind}:0`, "-enc_time_base", "-1", "-f", "framehash", "-"];
  const argv = ["-v", "error", "-copyts", "-i", path, ...frames];
  const { stdout } = await run(tools.ffmpeg.path, argv, { env: toolEnvironment(), maxBuffer: 1e8 });
  return stdout
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(",").map((field) => field.trim()))
    .map(([, , pts, , , sum = ""]) => (hash ? `${pts} ${sum}` : `${pts}`));
}

it.each<[Clip, string[]]>([
  ["ntsc.mp4", ["mp4:64x36", "mkv:64x36_15fps:opus"]],
  ["clip.ts", ["mp4:64x36", "mpegts:64x36"]],
])(
  "makes the same outputs of %s in several runs as in one: %j",
  async (clip, formats) => {
    const requests = formats.map((format) => ({ format }));
    const [one, many] = [await encodedOn(clip, requests), await encodedOn(clip, requests, { splitOn: STRONG })];
    // Reports hold as many commands as fit, the last of them in any case: here a join.
    expect(one.commands).toEqual([expect.stringContaining("libx264")]);
    expect(many.commands.length).toBeGreaterThan(1);
    expect(many.commands.at(-1)).not.toContain("libx264");
    expect(many.result.outputs.map(({ output, status }) => [output, status]).toSorted()).toEqual(
      formats.map((_, index) => [index, "made"]),
    );
    expect(many.fractions).toEqual(many.fractions.toSorted((a, b) => a - b));
    expect(many.fractions.at(-1)).toBe(1);
    for (const index of formats.keys()) {
      const [a, b] = [one, many].map(({ storage }) => storage.objects.get(`${index}.1`));
      expect(await decoded(b, "v", false)).toEqual(await decoded(a, "v", false));
      expect(await decoded(b, "a", true)).toEqual(await decoded(a, "a", true));
    }
  },
  TIMEOUT_MS,
);

const STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "hls" }, dash: { path: "dash" }, variants: ["mp4:96x54", "mp4:64x36"] },
};

it(
  "makes the same segments of a stream, beside images and files",
  async () => {
    const requests: OutputOptions[] = [STREAM, { format: "jpg:64x" }, { format: "mp4:64x36" }];
    const [one, many] = [
      await encodedOn("ntsc.mp4", requests),
      await encodedOn("ntsc.mp4", requests, { splitOn: STRONG }),
    ];
    const withoutJob = (text: string): string => text.replaceAll(/\d{14}_/g, "");
    /** Without bitrates, which differ a little. */
    const withoutRates = (text: string): string => withoutJob(text).replaceAll(/(BANDWIDTH=|#EXT-X-BITRATE:)\d+/g, "");
    const shape = ({ storage }: Made) =>
      [...storage.objects]
        .filter(([name]) => name.endsWith(".m3u8") && !name.includes("keyframes"))
        .map(([name, bytes]) => [withoutJob(name), withoutRates(bytes.toString())])
        .toSorted();
    const names = ({ storage }: Made): string[] => [...storage.objects.keys()].map(withoutJob).toSorted();
    expect(many.result.outputs.map(({ status }) => status)).toEqual(["made", "made", "made"]);
    expect(names(many)).toEqual(names(one));
    expect(shape(many)).toEqual(shape(one));
    expect(many.commands.length).toBeGreaterThan(one.commands.length);
  },
  TIMEOUT_MS,
);

it.each<[string, OutputOptions[], Partial<TaskDeps>]>([
  ["a node that may not split", [{ format: "mp4:64x36" }], {}],
  ["two cores", [{ format: "mp4:64x36" }], { splitOn: { cpus: 2, memoryBytes: 2 ** 33 } }],
  [
    "a trimmed output beside",
    [{ format: "mp4:64x36" }, { format: "mp4:64x36", params: { duration: 5 } }],
    { splitOn: STRONG },
  ],
  [
    "a stream that is played meanwhile",
    [{ ...STREAM, params: { ...STREAM.params, live_playlist: true } }],
    { splitOn: STRONG },
  ],
])("does not split for %s", async (_, requests, given) => {
  const { commands } = await encodedOn("ntsc.mp4", requests, given);
  expect(commands).toHaveLength(1);
});

it("encodes in one run when a chunk cannot be made", async () => {
  // The script calls a program outside of the sandbox; last, because this holds for the whole process.
  await testBed.close();
  await withoutSandbox();
  testBed = await openChunkTestBed(["ntsc.mp4"]);
  const picky = join(testBed.folder, "picky-ffmpeg");
  const script = `case "$*" in *start=*) echo "No chunks" >&2; exit 1;; esac; exec "${tools.ffmpeg.path}" "$@"`;
  await writeFile(picky, `#!/bin/sh\n${script}\n`);
  await chmod(picky, 0o755);
  const given = { splitOn: STRONG, ffmpeg: { ...tools.ffmpeg, path: picky } };
  const { result, commands } = await encodedOn("ntsc.mp4", [{ format: "mp4:64x36" }], given);
  expect(result.outputs).toMatchObject([{ status: "made", output: 0 }]);
  expect(commands.at(-1)).not.toContain("-copyts");
});
