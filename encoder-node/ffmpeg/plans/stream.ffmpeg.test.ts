// Runs stream plans and checks that the tracks have the properties that players rely on.
import { execFile } from "node:child_process";
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import type { PlannedStream, StreamTrack } from "#shared/plan/streams/planned-stream.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { few } from "../../testing/few.ts";
import { encodeClip, FFPROBE, makeClip } from "../../testing/plan-runs.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const folder = fileFolder();

type Packet = { readonly pts: number; readonly dts: number; readonly key: boolean };

async function packets(file: string): Promise<Packet[]> {
  const entries = ["-show_entries", "packet=pts_time,dts_time,flags", "-of", "csv=p=0"];
  const run = promisify(execFile);
  const { stdout } = await run(FFPROBE, ["-v", "error", ...entries, file], { env: toolEnvironment(), maxBuffer: 1e8 });
  const rows = stdout.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.split(",")]));
  return rows.map(([pts, dts, flags]) => ({
    pts: Number(pts),
    dts: Number(dts),
    key: flags?.startsWith("K") ?? false,
  }));
}

type Made = { readonly cwd: string; readonly stream: PlannedStream };

async function makeStream(clip: string, params: Readonly<Record<string, unknown>>): Promise<Made> {
  const { commands, failures } = await encodeClip(path.join(folder, clip), [{ format: "httpstream", params }]);
  expect(failures).toEqual([]);
  const stream = commands[0]?.outputs[0]?.stream;
  const runs = (await readdir(folder)).filter((name) => name.startsWith("run-"));
  expect(runs).toHaveLength(1);
  if (!stream) throw new Error("No stream");
  return { cwd: path.join(folder, runs[0] ?? ""), stream };
}

const ofKind = ({ tracks }: PlannedStream, kind: StreamTrack["kind"]): StreamTrack[] =>
  tracks.filter((track) => track.kind === kind);

/** Packets of a track from its fragmented MP4 and from its MPEG-TS segments. */
async function bothWays({ fmp4, ts }: StreamTrack, cwd: string): Promise<Packet[][]> {
  const names = (await readdir(cwd)).filter((name) => ts && name.startsWith(ts.replace(".m3u8", "-"))).toSorted();
  const segments = await Promise.all(names.map((name) => packets(path.join(cwd, name))));
  return [...(fmp4 ? [await packets(path.join(cwd, fmp4))] : []), ...(ts ? [segments.flat()] : [])];
}

const MS = 0.001;
const BOTH = { hls: { path: "h" }, dash: { path: "d" }, variants: ["mp4:x90", "mp4:x60", "mp4:x:32k"] };
const VIDEO = "-f lavfi -i testsrc2=s=160x120:r=";
const AUDIO = "-f lavfi -i sine=440:r=48000:d=";
const FAST = "-c:v libx264 -preset ultrafast -g 250 -c:a aac";

const CLIPS: readonly { name: string; clip: string; fps: number | null; seconds: number; params?: object }[] = [
  { name: "29.97", clip: `${VIDEO}30000/1001:d=13 ${AUDIO}13 ${FAST} a.mp4`, fps: 30000 / 1001, seconds: 13 },
  {
    name: "23.976 from Matroska",
    clip: `${VIDEO}24000/1001:d=13 ${AUDIO}13 ${FAST} a.mkv`,
    fps: 24000 / 1001,
    seconds: 13,
  },
  { name: "25 from MPEG-TS", clip: `${VIDEO}25:d=9 ${AUDIO}9 ${FAST} a.ts`, fps: 25, seconds: 9 },
  {
    name: "a variable frame rate, with a gap longer than a segment",
    clip: `${VIDEO}30:d=22 ${AUDIO}22 -vf select=not(mod(n\\,3))+not(mod(n\\,7))*lt(t\\,5),select=not(between(t\\,6\\,15)) -fps_mode vfr ${FAST} a.mp4`,
    fps: null,
    seconds: 22,
  },
  {
    name: "audio that begins late",
    clip: `${VIDEO}25:d=9 -itsoffset 0.7 ${AUDIO}8 -map 0:v -map 1:a ${FAST} a.mp4`,
    fps: 25,
    seconds: 9,
  },
  { name: "slides", clip: `-f lavfi -i testsrc2=s=160x120:r=1/7:d=28 ${AUDIO}28 ${FAST} a.mp4`, fps: 2, seconds: 27 },
  {
    name: "MPEG-TS alone",
    clip: `${VIDEO}25:d=9 ${AUDIO}9 ${FAST} a.mp4`,
    fps: 25,
    seconds: 9,
    params: { dash: undefined },
  },
  {
    name: "hevc, which is in fragmented MP4 only",
    clip: `${VIDEO}30:d=9 ${AUDIO}9 ${FAST} a.mp4`,
    fps: 30,
    seconds: 9,
    params: { hls: undefined, variants: ["mp4:hevc_x120", "mp4:hevc_x96"] },
  },
];

few(2).each(CLIPS)(
  "$name: keyframes of all renditions are on the same grid, and time 0 is the same for all tracks",
  async ({ clip, fps, seconds, params = {} }) => {
    const file = clip.split(" ").at(-1) ?? "";
    await makeClip(folder, file, clip.slice(0, -file.length - 1));
    const { cwd, stream } = await makeStream(file, { ...BOTH, segment_duration: 4, ...params });
    try {
      const videos = await Promise.all(ofKind(stream, "video").map((track) => bothWays(track, cwd)));
      const times = videos.flat().map((track) => track.map(({ pts }) => pts).toSorted((a, b) => a - b));
      const keys = videos.flat().map((track) => track.filter(({ key }) => key).map(({ pts }) => pts));
      const [frames = []] = times;
      const [start = 0] = frames;
      // Audio may start earlier, because of its priming. Frames of a constant rate are rounded to whole frames then.
      expect(start).toBeGreaterThanOrEqual(10 - MS);
      expect(start).toBeLessThan(10 + MS + 1 / (fps ?? 30));
      expect(frames.at(-1)).toBeGreaterThan(10 + seconds - 0.5);
      // The first frame of each grid cell of two seconds.
      const wanted = frames.filter((time, at) => at === 0 || cell(time - start) > cell((frames[at - 1] ?? 0) - start));
      for (const [at, track] of keys.entries()) {
        expectTimes(track, wanted);
        expectTimes(times[at] ?? [], frames);
      }
      if (fps !== null)
        for (const [at, time] of frames.entries()) expect(Math.abs(time - start - at / fps)).toBeLessThan(MS);
      const audios = (await Promise.all(ofKind(stream, "audio").map((track) => bothWays(track, cwd)))).flat();
      // The encoder's priming of 1024 samples comes before time 0.
      for (const audio of audios) expect(audio[0]?.pts).toBeCloseTo(10 - 1024 / 48_000, 3);
      // The requested bitrate plus the container's overhead, which requires several audio frames per MPEG-TS packet.
      expect(await audioKbps(stream, cwd)).toBeLessThan(32 * 1.35);
      for (const audio of audios) expect(audio.at(-1)?.pts).toBeGreaterThan(10 + seconds - 0.6);
    } finally {
      await rm(cwd, { recursive: true });
    }
  },
);

/** The bitrate of the audio-only variant (32 kbit/s) in MPEG-TS; 0 if there is none. */
async function audioKbps({ tracks }: PlannedStream, cwd: string): Promise<number> {
  const playlist = tracks.find(({ name, ts }) => name === "audio-32k" && ts)?.ts;
  if (!playlist) return 0;
  const file = path.join(cwd, playlist.replace(".m3u8", "-00000.ts"));
  const times = await packets(file);
  return ((await stat(file)).size * 8) / 1000 / ((times.at(-1)?.pts ?? 0) - (times[0]?.pts ?? 0));
}

const cell = (time: number): number => Math.floor((time + 0.0006) / 2);

function expectTimes(actual: readonly number[], wanted: readonly number[]): void {
  expect(actual).toHaveLength(wanted.length);
  const worst = Math.max(...actual.map((time, at) => Math.abs(time - (wanted[at] ?? 0))));
  expect(worst).toBeLessThan(MS);
}
