// The ends of the tracks of a file or a playlist, decoded by ffmpeg.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { REFERENCE_FFMPEG } from "../plan-runs.ts";

const run = promisify(execFile);

/** Where the last frame of each kind of track ends, in seconds to a tenth, on the timeline of the file. */
export async function trackSeconds(file: string): Promise<Record<string, number>> {
  const argv = [
    ...["-v", "error", "-i", file, "-map", "0:v:0?", "-map", "0:a:0?", "-fps_mode", "passthrough"],
    ...["-c:v", "wrapped_avframe", "-c:a", "pcm_s16le", "-f", "framecrc", "-"],
  ];
  const { stdout } = await run(REFERENCE_FFMPEG, argv, { env: toolEnvironment(), maxBuffer: 64 * 2 ** 20 });
  const bases = [...stdout.matchAll(/^#tb (\d): (\d+)\/(\d+)$/gm)].map(([, , num, den]) => Number(num) / Number(den));
  const kinds = [...stdout.matchAll(/^#media_type \d: (\w+)$/gm)].map(([, kind = ""]) => kind);
  const rows = [...stdout.matchAll(/^(\d), +-?\d+, +(-?\d+), +(\d+),/gm)].map((row) => row.slice(1).map(Number));
  return Object.fromEntries(
    kinds.map((kind, at) => {
      const ends = rows.flatMap(([stream, start = 0, length = 0]) => (stream === at ? [start + length] : []));
      return [kind, Math.round(ends.reduce((last, end) => Math.max(last, end), 0) * (bases[at] ?? 0) * 10) / 10];
    }),
  );
}
