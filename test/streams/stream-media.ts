// The content of segments, as ffmpeg and ffprobe read it.
import { spawn } from "node:child_process";
import * as z from "zod";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { BLOCKS, ROW, secondsOf } from "../players/time-code.ts";

const tools = await locateFfmpeg(process.env);

/** A file and its format. ffmpeg cannot detect MPEG-TS in a few packets. */
export type Media = { readonly format: "mpegts" | "mp4"; readonly bytes: Uint8Array };

const input = ({ format }: Media): string[] => ["-f", format, "-i", "pipe:0"];

type Finished = { readonly stdout: Buffer; readonly stderr: string; readonly code: number | null };

/** Runs a tool with `input` on its standard input. */
async function pipe(path: string, argv: readonly string[], input: Uint8Array): Promise<Finished> {
  const child = spawn(path, argv, { env: toolEnvironment() });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A tool that needs no more data closes its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString(), code };
}

const Inspection = z.object({
  packets_and_frames: z.array(
    z.object({
      type: z.enum(["packet", "frame"]),
      pts_time: z.coerce.number().optional(),
      flags: z.string().optional(),
    }),
  ),
});

export type Inspected = {
  /** The packets in the order of the file, with their presentation times. */
  readonly packets: readonly { readonly seconds: number; readonly isKey: boolean }[];
  /** Number of frames after decoding all packets. */
  readonly frames: number;
  /** The errors of the decoder; empty if there are none. */
  readonly complaints: string;
};

export async function inspect(media: Media): Promise<Inspected> {
  const argv = ["-v", "error", "-show_packets", "-show_frames", "-of", "json", ...input(media)];
  const { stdout, stderr, code } = await pipe(tools.ffprobe.path, argv, media.bytes);
  if (code !== 0) throw new Error(`ffprobe: ${stderr}`);
  const { packets_and_frames: all } = Inspection.parse(JSON.parse(stdout.toString()));
  const packets = all.filter(({ type }) => type === "packet");
  return {
    packets: packets.map(({ pts_time = Number.NaN, flags = "" }) => ({
      seconds: pts_time,
      isKey: flags.startsWith("K"),
    })),
    frames: all.length - packets.length,
    complaints: stderr,
  };
}

export type CodedFrame = { readonly seconds: number; readonly code: number | null };

/** Each frame, with its own time and the time that is drawn into it. */
export async function codedFrames(media: Media): Promise<CodedFrame[]> {
  const shrink = `showinfo=checksum=0,crop=iw:ih*${ROW}:0:0,scale=${BLOCKS}:1:flags=area,format=gray`;
  const argv = ["-v", "info", "-nostats", "-copyts", ...input(media), "-map", "0:v", "-vf", shrink];
  const { stdout, stderr } = await pipe(
    tools.ffmpeg.path,
    [...argv, "-fps_mode", "passthrough", "-f", "rawvideo", "pipe:1"],
    media.bytes,
  );
  const times = [...stderr.matchAll(/ n: *\d+ .*?pts_time:(-?[\d.]+)/g)].map(([, seconds]) => Number(seconds));
  return times.map((seconds, index) => ({
    seconds,
    code: secondsOf([...stdout.subarray(index * BLOCKS, (index + 1) * BLOCKS)]),
  }));
}

/** Ends of silence in seconds: starts of the audio, and the end of a file that ends in silence. */
export async function beepsOf(media: Media): Promise<number[]> {
  const detect = "silencedetect=noise=-20dB:duration=0.3";
  const argv = ["-v", "info", "-nostats", "-copyts", ...input(media), "-map", "0:a", "-af", detect, "-f", "null", "-"];
  const { stderr } = await pipe(tools.ffmpeg.path, argv, media.bytes);
  return [...stderr.matchAll(/silence_end: (-?[\d.]+)/g)].map(([, seconds]) => Number(seconds));
}
