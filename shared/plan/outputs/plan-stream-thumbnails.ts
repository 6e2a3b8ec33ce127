// Plans the thumbnails of a stream for the player's seek bar. The thumbnails are an image output of the stream's own.

import type { HttpStreamOutput, ImageOutput } from "../../job/output-spec.ts";
import { valuesOf } from "../../parameters/parameter.ts";
import { frameParameters, imageParameters } from "../../parameters/plain-parameters.ts";
import type { Need } from "../../protocol/needs.ts";
import { ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Branch } from "../command/filter-graph.ts";
import type { SourceTracks } from "../source/source-tracks.ts";
import type { StreamThumbnails } from "../streams/planned-stream.ts";
import { planImages } from "./plan-images.ts";

/** A sheet of 5 × 5 cells of 160 pixels is an image of some 100 KB. So a player does not load more than it shows. */
const SHEET = { columns: 5, limit: 25 } as const;

export type PlannedThumbnails = {
  readonly branch: Branch;
  readonly argv: readonly string[];
  readonly thumbnails: StreamThumbnails;
  readonly needs: readonly Need[];
};

/**
 * Plans images on sprite sheets, at an interval that suits the length (api-v2 §5). Null if the length of the source is
 * unknown.
 */
export function planStreamThumbnails(
  spec: HttpStreamOutput,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  seekMs: number,
): Result<PlannedThumbnails | null> {
  const result = planImages(asImages(spec), source, capabilities, seekMs);
  if (!result.ok) return result.error.code === "output_interval_not_possible" ? ok(null) : result;
  const { planned, branches, argv, images, spriteSheet, needs } = result.value;
  const branch = branches[0];
  const vtt = planned.texts?.[0];
  const everyMs = images?.intervals[0]?.stepMs;
  if (!branch || !spriteSheet || !vtt || everyMs === undefined) throw new Error("Thumbnails have sheets and a text");
  const files = planned.files.filter((file) => file !== vtt.file);
  return ok({ branch, argv, needs, thumbnails: { files, vtt: vtt.text, spriteSheet, everyMs } });
}

const asImages = ({ index, key, format, clip, crop }: HttpStreamOutput): ImageOutput => ({
  index,
  key,
  format,
  condition: null,
  ...(clip ? { clip } : {}),
  type: "image",
  container: "jpg",
  ...valuesOf({ ...frameParameters, ...imageParameters }),
  ...(crop ? { crop } : {}),
  watermark: null,
  size: { width: null, height: null },
  path: "thumbnails/%05d.jpg",
  selection: { by: "interval", intervalMs: null },
  sprite: SHEET,
  vtt: { path: "thumbnails.vtt" },
});
