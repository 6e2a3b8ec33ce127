// Commands of ffmpeg that an engineer would type for the same outputs, with a download before and uploads after.
import { spawn } from "node:child_process";
import { createWriteStream, openAsBlob } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { request } from "undici";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";

type Encoded = { readonly size: string; readonly kbps: number };
/** Video files of these sizes and mean bitrates, and ten thumbnails. */
export type Wanted = { readonly videos: readonly Encoded[]; readonly thumbnails: number; readonly seconds: number };
type Transfers = { readonly sourceUrl: string; readonly uploadUrl: string };

const coded = ({ kbps }: Encoded): string[] => [
  ...["-c:v", "libx264", "-preset", "medium", "-b:v", `${kbps}k`, "-maxrate", `${1.5 * kbps}k`],
  ...["-bufsize", `${2 * kbps}k`, "-c:a", "aac", "-b:a", "128k", "-movflags", "+faststart"],
];
const scaled = ({ size }: Encoded): string => `scale=${size}:flags=bicubic,format=yuv420p`;
const thumbnails = ({ thumbnails: count, seconds }: Wanted): string => `fps=${count / seconds},scale=320:-2`;
const OPENING = ["-nostdin", "-v", "error", "-y", "-i", "source.mp4"];

/** A separate command for each output, run one after the other. */
export const commandPerOutput = (wanted: Wanted): string[][] => [
  ...wanted.videos.map((video) => [...OPENING, "-vf", scaled(video), ...coded(video), `${video.kbps}.mp4`]),
  ...(wanted.thumbnails > 0 ? [[...OPENING, "-an", "-vf", thumbnails(wanted), "-q:v", "2", "%02d.jpg"]] : []),
];

/** The best single command: it decodes once for all outputs. */
export function singleCommand(wanted: Wanted): string[][] {
  const count = wanted.videos.length + (wanted.thumbnails > 0 ? 1 : 0);
  const inputs = Array.from({ length: count }, (_, at) => `[s${at}]`);
  const graphs = [
    `[0:v]split=${count}${inputs.join("")}`,
    ...wanted.videos.map((video, at) => `[s${at}]${scaled(video)}[v${at}]`),
    ...(wanted.thumbnails > 0 ? [`[s${count - 1}]${thumbnails(wanted)}[t]`] : []),
  ];
  const files = wanted.videos.flatMap((video, at) => {
    const tracks = ["-map", `[v${at}]`, "-map", "0:a"];
    return [...tracks, ...coded(video), `${video.kbps}.mp4`];
  });
  const images = wanted.thumbnails > 0 ? ["-map", "[t]", "-q:v", "2", "%02d.jpg"] : [];
  return [[...OPENING, "-filter_complex", graphs.join(";"), ...files, ...images]];
}

/**
 * Wall time in ms of the commands in an empty folder, including the download of the source and the uploads of the
 * results.
 */
export async function timeByHand(
  ffmpeg: string,
  commands: readonly (readonly string[])[],
  folder: string,
  { sourceUrl, uploadUrl }: Transfers,
): Promise<number> {
  await mkdir(folder);
  const startedAt = performance.now();
  const { body } = await request(sourceUrl);
  await pipeline(body, createWriteStream(join(folder, "source.mp4")));
  for (const argv of commands) await runLowered(ffmpeg, argv, folder);
  const results = (await readdir(folder)).filter((name) => name !== "source.mp4");
  await Promise.all(results.map((name) => put(join(folder, name), `${uploadUrl}/${name}`)));
  return performance.now() - startedAt;
}

/** Runs with the same priority as ffmpeg on nodes, so that other load on the machine affects both equally. */
function runLowered(program: string, argv: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { cwd, env: toolEnvironment(), stdio: ["ignore", "ignore", "inherit"] });
    if (child.pid !== undefined) {
      setPriority(child.pid, Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
    }
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`ffmpeg exited with ${code}`))));
  });
}

async function put(path: string, url: string): Promise<void> {
  const response = await fetch(url, { method: "PUT", body: await openAsBlob(path) });
  if (!response.ok) throw new Error(`The upload was answered with ${response.status}`);
  await response.arrayBuffer();
}
