// The URLs of watermarks, overlays, subtitles, captions, fonts and audio tracks. A user, password and query in them are
// secret, as in the URL of the source. Pure.
import * as z from "zod";
import type { BurnSpec } from "#shared/job/burn.ts";
import { publicUrl } from "#shared/job/metadata.ts";
import type { ImageOutput, OutputSpec, TextOutput, VideoOutput } from "#shared/job/output-spec.ts";
import type { Task } from "#shared/protocol/tasks.ts";

/**
 * Complete URLs by their place, such as `0.watermark` or `2.subtitles.1`. Only URLs that contain a secret are listed.
 */
export const ExtraUrls = z.record(z.string(), z.string());
export type ExtraUrls = z.infer<typeof ExtraUrls>;

/** Splits outputs into outputs whose URLs may be shown, and the complete URLs. */
export function hideUrls(outputs: readonly OutputSpec[]): { outputs: OutputSpec[]; extraUrls: ExtraUrls } {
  const extraUrls: ExtraUrls = {};
  const hide = (place: string, url: string): string => {
    const publicText = publicUrl(url);
    if (publicText !== url) extraUrls[place] = url;
    return publicText;
  };
  return { outputs: outputs.map((spec) => mapUrls(spec, hide)), extraUrls };
}

/** A node's task with the complete URLs of the files that it fetches. */
export function withUrls(task: Task, extraUrls: ExtraUrls): Task {
  if (task.kind === "inspect") return task;
  const complete = (place: string, url: string): string => extraUrls[place] ?? url;
  return { ...task, outputs: task.outputs.map((spec) => mapUrls(spec, complete)) };
}

type Change = (place: string, url: string) => string;

function mapUrls(given: OutputSpec, change: Change): OutputSpec {
  const spec = given.type === "text" ? given : withDrawings(given, change);
  if (spec.type === "text") {
    const { text, index } = spec;
    return text.url === undefined ? spec : { ...spec, text: { ...text, url: change(`${index}.text`, text.url) } };
  }
  if (spec.type === "image") return withWatermark(spec, change);
  const { audioTracks, index } = spec;
  const tracks = typeof audioTracks === "object" ? audioTracks : [];
  const changed = tracks.map((track, at) =>
    track.url === null ? track : { ...track, url: change(`${index}.audio.${at}`, track.url) },
  );
  const audio = changed.length > 0 ? { audioTracks: changed } : {};
  const whole = spec.type === "video" ? withWatermark(spec, change) : spec;
  if (spec.subtitles === undefined || spec.subtitles === "all") return { ...whole, ...audio };
  const subtitles = spec.subtitles.map((one, at) =>
    one.url === undefined ? one : { ...one, url: change(`${index}.subtitles.${at}`, one.url) },
  );
  return { ...whole, subtitles, ...audio };
}

function withWatermark<Spec extends VideoOutput | ImageOutput>(
  spec: Spec,
  change: (place: string, url: string) => string,
): Spec {
  const { watermark, index } = spec;
  return watermark ? { ...spec, watermark: { ...watermark, url: change(`${index}.watermark`, watermark.url) } } : spec;
}

function withDrawings<Spec extends Exclude<OutputSpec, TextOutput>>(spec: Spec, change: Change): Spec {
  const { burn, overlays, index } = spec;
  const changed = overlays?.map((overlay, at) =>
    "url" in overlay ? { ...overlay, url: change(`${index}.overlays.${at}`, overlay.url) } : overlay,
  );
  return {
    ...spec,
    ...(burn ? { burn: mapBurn(burn, index, change) } : {}),
    ...(changed ? { overlays: changed } : {}),
  };
}

function mapBurn(burn: BurnSpec, index: number, change: Change): BurnSpec {
  const { style } = burn;
  const { font } = style;
  const changed = font && "url" in font ? { url: change(`${index}.burn.font`, font.url) } : font;
  const file = burn.url === undefined ? {} : { url: change(`${index}.burn`, burn.url) };
  return { ...burn, ...file, style: { ...style, font: changed } };
}
