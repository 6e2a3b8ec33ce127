// Inspects stored files: a status proves nothing.
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { probeFile } from "../encoder-node/source/probe/probe.ts";

const run = promisify(execFile);
const tools = await locateFfmpeg(process.env);
const folder = mkdtempSync(join(tmpdir(), "copra-look-"));
let files = 0;

export type Looked = {
  /** Path of the local copy. */
  path: string;
  probe: MediaProbe;
  video: ProbedStream | undefined;
  audio: ProbedStream | undefined;
  durationMs: number | null;
  /** Frames of a full decode without error messages. */
  frames: number;
};

/** Fetches a stored object, probes it and decodes all of it. Throws if anything is wrong. */
export async function look(url: string | undefined): Promise<Looked> {
  const response = await fetch(String(url));
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  // A neutral name: the content alone must show the type of the file.
  const path = join(folder, `${++files}.bin`);
  await writeFile(path, new Uint8Array(await response.arrayBuffer()));
  return lookAtFile(path);
}

/** Does the same for a file on this machine. */
export async function lookAtFile(path: string): Promise<Looked> {
  const probe = await probeFile(tools.ffprobe, path);
  const stream = (type: string): ProbedStream | undefined =>
    probe.streams.find(({ codec_type }) => codec_type === type);
  return {
    path,
    probe,
    video: stream("video"),
    audio: stream("audio"),
    durationMs: sourceFacts(probe).durationMs,
    frames: await decode(path, stream("video") !== undefined),
  };
}

async function decode(path: string, hasVideo: boolean): Promise<number> {
  const input = ["-v", "error", "-xerror", "-nostats", "-progress", "pipe:1", "-i", path];
  const argv = [...input, "-fps_mode", "passthrough", "-f", "null", "-"];
  const { stdout, stderr } = await run(tools.ffmpeg.path, argv, { env: toolEnvironment() });
  if (stderr !== "") throw new Error(`Decoding ${path} printed: ${stderr}`);
  return hasVideo
    ? Number(
        stdout
          .match(/frame=\s*(\d+)/g)
          ?.at(-1)
          ?.replace(/\D/g, ""),
      )
    : 0;
}
