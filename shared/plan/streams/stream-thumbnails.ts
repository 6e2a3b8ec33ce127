// Small pictures of a stream for the player's seek bar: an image output that the stream has by itself.
import type { HttpStreamOutput, ImageOutput } from "../../job/output-spec.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Branch } from "../command/filter-graph.ts";
import type { Refusal } from "../command/output-plan.ts";
import { planImages } from "../plan-images.ts";
import type { SourceTracks } from "../source/source-tracks.ts";
import type { StreamThumbnails } from "./planned-stream.ts";

/** Five by five cells of 160 pixels are a picture of some 100 KB: a player loads no more than it shows. */
const SHEET = { columns: 5, limit: 25 } as const;

type Thumbnails = {
  readonly ok: true;
  readonly branch: Branch | null;
  readonly argv: readonly string[];
  readonly expectedFrames: null;
  /** Null for a source that does not say how long it is. */
  readonly thumbnails: StreamThumbnails | null;
};

/** Plans the thumbnails of a stream: a picture as often as suits the length (api-v2 §5), on sheets. */
export function planThumbnails(
  spec: HttpStreamOutput,
  source: SourceTracks,
  can: FfmpegCapabilities,
): Thumbnails | Refusal {
  const result = planImages(asImages(spec), source, can);
  if (!result.ok) {
    const none = { ok: true, branch: null, argv: [], expectedFrames: null, thumbnails: null } as const;
    return result.failure.code === "output_interval_not_possible" ? none : result;
  }
  const { planned, branches, argv, images: pictures, spriteSheet: sheet } = result.plan;
  const vtt = planned.texts?.[0];
  const everyMs = pictures?.intervals[0]?.stepMs;
  if (!sheet || !vtt || everyMs === undefined) throw new Error("Thumbnails come on sheets, with their text");
  const files = planned.files.filter((file) => file !== vtt.file);
  return {
    ...{ ok: true, branch: branches[0] ?? null, argv, expectedFrames: null },
    thumbnails: { files, vtt: vtt.text, spriteSheet: sheet, everyMs },
  };
}

const asImages = ({ index, key, format }: HttpStreamOutput): ImageOutput => ({
  ...{ index, key, format, condition: null, type: "image", container: "jpg" },
  ...{ fit: "pad", transpose: null, vflip: false, hflip: false, watermark: null, square: false, blur: null },
  size: { width: null, height: null },
  path: "thumbnails/%05d.jpg",
  selection: { by: "interval", intervalMs: null },
  sprite: SHEET,
  vtt: { path: "thumbnails.vtt" },
});
