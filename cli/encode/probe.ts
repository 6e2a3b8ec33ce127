// Reads a local file's size, frame rate and length with ffprobe, if this machine has it.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as z from "zod";
import type { AssumedSource } from "../../client/index.ts";
import type { Env } from "../target/folders.ts";

const Probe = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string().optional(),
      width: z.number().optional(),
      height: z.number().optional(),
      avg_frame_rate: z.string().optional(),
      side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
    }),
  ),
  format: z.object({ duration: z.string().optional() }).optional(),
});

const TIME_LIMIT_MS = 15_000;

/** Null if there is no ffprobe, or it cannot read the file. */
export async function probeFile(path: string, env: Env): Promise<AssumedSource | null> {
  const argv = ["-v", "error", "-of", "json", "-show_streams", "-show_format", `file:${path}`];
  try {
    const options = { timeout: TIME_LIMIT_MS, maxBuffer: 2 ** 24 };
    const { stdout } = await promisify(execFile)(env.FFPROBE_PATH || "ffprobe", argv, options);
    return assumedSource(Probe.parse(JSON.parse(stdout)));
  } catch {
    return null;
  }
}

/** What a dry run takes (worker/http/dry-run/assumed-source.ts); what is out of its range is left to its defaults. */
export function assumedSource({ streams, format }: z.infer<typeof Probe>): AssumedSource {
  const video = streams.find(({ codec_type }) => codec_type === "video");
  const seconds = Number(format?.duration);
  const [frames = 0, per = 0] = (video?.avg_frame_rate ?? "").split("/").map(Number);
  const fps = frames / per;
  const rotation = quarterTurns(video?.side_data_list?.find(({ rotation }) => rotation !== undefined)?.rotation ?? 0);
  return {
    ...(within(video?.width, 16, 16_384) ? { width: video?.width } : {}),
    ...(within(video?.height, 16, 16_384) ? { height: video?.height } : {}),
    ...(within(fps, 1, 240) ? { fps: Math.round(fps * 1000) / 1000 } : {}),
    ...(seconds > 0 ? { duration: Math.min(86_400, seconds) } : {}),
    ...(rotation === 0 ? {} : { rotation }),
    audio: streams.some(({ codec_type }) => codec_type === "audio"),
  };
}

const within = (value: number | undefined, least: number, most: number): boolean =>
  value !== undefined && value >= least && value <= most;

/** ffprobe's rotation is counterclockwise. */
function quarterTurns(degrees: number): 0 | 90 | 180 | 270 {
  const clockwise = (((-degrees % 360) + 360) % 360) as number;
  return clockwise === 90 || clockwise === 180 || clockwise === 270 ? clockwise : 0;
}
