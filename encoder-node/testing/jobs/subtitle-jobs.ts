// Support for tests of subtitles: sources with text tracks, and encodes into a storage on loopback.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OutputReport } from "#shared/protocol/reports.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { encode } from "../../tasks/encode/encode.ts";
import { type Cue, parseWebVtt } from "../../text/subtitle-cues.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { probe, probeClip } from "../plan-runs.ts";
import { sourceAt, startTestNode, tools } from "../task-deps.ts";
import { startTestStorage, type TestStorage } from "./stream-storage.ts";

export type Encoded = { readonly reports: readonly OutputReport[]; readonly storage: TestStorage };

export type SubtitleJobs = {
  readonly folder: string;
  write(name: string, text: string | Buffer): Promise<string>;
  /** Runs ffmpeg in the folder with arguments that contain no spaces. */
  make(name: string, options: string): Promise<string>;
  encode(source: string, outputs: readonly OutputOptions[], changes?: Partial<TaskDeps>): Promise<Encoded>;
  /** The text tracks of a stored file, as ffmpeg and ffprobe read them. */
  textsIn(storage: TestStorage, output: number, extension: string): Promise<StoredText[]>;
  close(): Promise<void>;
};

/** Codec, language, dispositions and cues. */
type StoredText = readonly [
  string | undefined,
  string | undefined,
  string,
  readonly (readonly [number, number, string])[],
];

export async function openSubtitleJobs(): Promise<SubtitleJobs> {
  const folder = await mkdtemp(join(tmpdir(), "copra-text-"));
  const node = startTestNode(folder);
  const storages: TestStorage[] = [];
  const make = async (name: string, options: string): Promise<string> => {
    const argv = ["-v", "error", "-nostdin", "-y", ...options.split(" "), name];
    const result = await runCommand({ path: tools.ffmpeg.path, argv, cwd: folder, stallMs: 60_000 });
    if (!result.ok) throw new Error(result.stderrTail);
    return name;
  };
  return {
    folder,
    async write(name, text) {
      await writeFile(join(folder, name), text);
      return name;
    },
    make,
    async textsIn({ objects }, output, extension) {
      const name = `out-${output}.${extension}`;
      await writeFile(join(folder, name), objects.get(`${output}.1`) ?? Buffer.alloc(0));
      const { streams } = await probe(join(folder, name));
      const texts = streams.filter(({ codec_type }) => codec_type === "subtitle");
      const files = texts.map(({ index }) => `-map 0:${index} -c webvtt ${name}-${index}.vtt`);
      const [last = "", ...others] = files.toReversed();
      if (last !== "")
        await make(last.split(" ").at(-1) ?? "", [`-i ${name}`, ...others, last.replace(/ \S+$/, "")].join(" "));
      return Promise.all(
        texts.map(async ({ codec_name, tags, disposition, index }): Promise<StoredText> => {
          const marks = ["default", "forced", "hearing_impaired"].filter((mark) => disposition?.[mark] === 1);
          const cues = cuesIn(await readFile(join(folder, `${name}-${index}.vtt`), "utf8"));
          return [codec_name, tags?.language, marks.join(), cues];
        }),
      );
    },
    async encode(name, requests, changes = {}) {
      const path = join(folder, name);
      const storage = await startTestStorage();
      storages.push(storage);
      const task = {
        kind: "encode",
        sourceUrl: "http://127.0.0.1/",
        probe: await probeClip(path),
        outputs: requests.map(specOf),
      };
      const deps = node.depsOf("AAAAAAAAAAAAAA.encode.1", task, {
        sources: sourceAt(path),
        requestUploads: storage.requestUploads,
        ...changes,
      });
      if (deps.task.kind !== "encode") throw new Error("Not an encode");
      const result = await encode(deps.task, deps);
      if (result.kind !== "encode") throw new Error("Not the result of an encode");
      return { reports: result.outputs.toSorted((a, b) => a.output - b.output), storage };
    },
    async close() {
      for (const storage of storages) storage.close();
      await node.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The text of the only stored object whose name matches. */
export function objectIn({ objects }: TestStorage, name: RegExp): string {
  const match = [...objects].filter(([key]) => name.test(key));
  if (match.length !== 1) throw new Error(`${match.length} objects match ${name}: ${[...objects.keys()].join(" ")}`);
  return match[0]?.[1].toString() ?? "";
}

/** Cues as `[start, end, text]`, in ms. */
export const cuesIn = (text: string): [number, number, string][] =>
  (parseWebVtt(text)?.cues ?? []).map(({ startMs, endMs, text }: Cue) => [startMs, endMs, text]);

/** SubRip of these cues, in ms. */
export const subRip = (cues: readonly (readonly [number, number, string])[]): string =>
  cues.map(([start, end, text], at) => `${at + 1}\n${srtTime(start)} --> ${srtTime(end)}\n${text}\n`).join("\n");

const srtTime = (ms: number): string => new Date(ms).toISOString().slice(11, 23).replace(".", ",");
