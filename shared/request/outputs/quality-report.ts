// Marks the outputs whose quality is measured (`settings.quality_report`).
import { hasTracks, type OutputSpec } from "../../job/output-spec.ts";
import { ok, type Result } from "../../result.ts";
import { invalid } from "../parse-section.ts";
import type { SettingsSpec } from "../settings-section.ts";

/** Returns the outputs of a job with these settings. Fails if no output's quality can be measured. */
export function withQualityReport(
  outputs: readonly OutputSpec[],
  { qualityReport }: Pick<SettingsSpec, "qualityReport">,
): Result<OutputSpec[]> {
  if (!qualityReport) return ok([...outputs]);
  if (!outputs.some(hasEncodedVideo)) {
    const message =
      "`settings.quality_report` needs an output with encoded video: audio, images and copies have no VMAF";
    return invalid("settings_not_valid", message);
  }
  return ok(outputs.map((spec) => (hasEncodedVideo(spec) ? { ...spec, measuresQuality: true } : spec)));
}

/** The type ensures that images are never marked. */
function hasEncodedVideo(spec: OutputSpec): spec is Exclude<OutputSpec, { type: "image" }> {
  if (!hasTracks(spec)) return false;
  const videos = spec.type === "video" ? [spec.video] : spec.variants.map(({ video }) => video);
  return videos.some((video) => video !== null && video.codec !== "copy");
}
