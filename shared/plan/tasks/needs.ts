// The needs of outputs: encoders, filters and muxers of ffmpeg. Found by planning the outputs for a node that has
// everything.
import type { BurnSpec } from "../../job/burn.ts";
import { burnOf, type OutputSpec, withBitmaps } from "../../job/output-spec.ts";
import { textOverlays } from "../../job/overlays.ts";
import { SPEECH } from "../../job/speech.ts";
import { areFilesOnly, isChannel } from "../../job/subtitles.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import { HARDWARE_NAMES } from "../../protocol/capabilities.ts";
import type { Need } from "../../protocol/needs.ts";
import { BITMAP_CODECS, type FfmpegCapabilities, meets } from "../command/capabilities.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import { LOUDNESS_NEED, TEXT_NEED } from "../filters/filter-needs.ts";
import { chooseTracks, type SourceTracks } from "../source/source-tracks.ts";
import { burntImages, chooseBurnt, requestedChannels } from "../text/choose-texts.ts";
import { textTracks } from "../text/text-tracks.ts";
import { planOutput } from "./plan-encode.ts";

/** Assumed while a source has not been inspected: usual video, with audio. */
const USUAL_SOURCE: MediaProbe = {
  streams: [
    {
      index: 0,
      codec_type: "video",
      codec_name: "h264",
      width: 1920,
      height: 1080,
      pix_fmt: "yuv420p",
      r_frame_rate: "30/1",
      avg_frame_rate: "30/1",
      duration: "600.000000",
    },
    { index: 1, codec_type: "audio", codec_name: "aac", sample_rate: "48000", channels: 2, duration: "600.000000" },
  ],
  format: { format_name: "mov,mp4,m4a,3gp,3g2,mj2", duration: "600.000000" },
};

/**
 * Needs of a node that makes all of these outputs, sorted, each need once. An output that is not possible on any node
 * has no needs, because every node that can read it reports the same failure. `probe` is null before the inspection.
 */
export function needsOf(outputs: readonly OutputSpec[], probe: MediaProbe | null): Need[] {
  const tracks = chooseTracks(probe ?? USUAL_SOURCE);
  const needs = outputs.flatMap((spec) => {
    const decoder = probe && bitmapDecoder(burnOf(spec), probe);
    const drawn = decoder ? withBitmaps(spec, { width: 16, height: 9, startMs: 0 }) : spec;
    const speech = tracks.audio && requestedChannels(spec).some((channel) => !isChannel(channel)) ? [SPEECH_NEED] : [];
    return [...needsOfOutput(drawn, tracks), ...needsOfHelpers(drawn), ...(decoder ? [decoder] : []), ...speech];
  });
  return withoutImplied([...new Map(needs.map((need) => [keyOf(need), need])).values()].toSorted(byKey));
}

const SPEECH_NEED: Need = { kind: "feature", anyOf: [SPEECH] };

/** Empty if the planner throws: it then throws on every node, too. */
function needsOfOutput(spec: OutputSpec, tracks: SourceTracks): readonly Need[] {
  try {
    const plan = planOutput(spec, tracks, ALL_SOFTWARE);
    return plan.ok ? plan.value.needs : [];
  } catch {
    return [];
  }
}

/** Needs of runs besides the plan's own: they read text, measure loudness, and draw text with a font of the node. */
function needsOfHelpers(spec: OutputSpec): readonly Need[] {
  if (spec.type === "text") return [TEXT_NEED];
  const { style: { font } = {}, from, bitmaps } = burnOf(spec) ?? {};
  return [
    ...(spec.type !== "image" && spec.loudness ? [LOUDNESS_NEED] : []),
    ...(spec.type !== "image" && !areFilesOnly(spec) ? [TEXT_NEED] : []),
    ...(bitmaps || from === undefined ? [] : [TEXT_NEED]),
    ...(font && "name" in font ? [{ kind: "font" as const, anyOf: [font.name] }] : []),
    ...textOverlays(spec.overlays).flatMap(({ overlay }) =>
      overlay.font === null ? [] : [{ kind: "font" as const, anyOf: [overlay.font] }],
    ),
  ];
}

/** The decoder of a track that is drawn, if it is made of images; otherwise null. */
function bitmapDecoder(burn: BurnSpec | undefined, probe: MediaProbe): Need | null {
  const track = burntImages(chooseBurnt(burn, textTracks(probe)));
  const decoder = track && BITMAP_CODECS.get(track.codec);
  return decoder ? { kind: "decoder", anyOf: [decoder] } : null;
}

/** Folders of a task on its node. */
export type TaskFolders = { readonly reads: string | null; readonly writes: string | null };

/** `writes` alone: a folder that can be written to can also be read. */
export function folderNeeds({ reads, writes }: TaskFolders): Need[] {
  return [
    ...(reads === null || reads === writes ? [] : [{ kind: "folder" as const, anyOf: [reads] }]),
    ...(writes === null ? [] : [{ kind: "writable folder" as const, anyOf: [writes] }]),
  ];
}

/** The needs that a node does not meet, in the same order. */
export const missingNeeds = (needs: readonly Need[], capabilities: FfmpegCapabilities): Need[] =>
  needs.filter((need) => !meets(capabilities, need));

/**
 * Text about missing needs, for people: `libsvtav1 or libaom-av1, and filter zscale`. Equivalent hardware encoders are
 * left out. Empty without needs.
 */
export function describeNeeds(missing: readonly Need[]): string {
  const [last, ...others] = missing.map(describe).toReversed();
  if (last === undefined) return "";
  return others.length === 0 ? last : `${others.toReversed().join(", ")}, and ${last}`;
}

function describe({ kind, anyOf }: Need): string {
  const software = anyOf.filter((name) => !HARDWARE_NAMES.some((hardware) => name.endsWith(`_${hardware}`)));
  const names = (software.length === 0 ? anyOf : software).join(" or ");
  if (kind === "feature") return "speech recognition (--speech)";
  if (anyOf.includes("subtitles")) return `filter ${names} (libass, for burn and overlays)`;
  if (anyOf.includes("drawtext")) return `filter ${names} (libfreetype, for overlays)`;
  if (anyOf.includes("ebur128")) return `filter ${names} (for loudness)`;
  if (anyOf.includes("amerge")) return `filter ${names} (for audio)`;
  if (anyOf.includes("libvmaf")) return `filter ${names} (for quality_report and quality=vmaf)`;
  if (anyOf.includes("webvtt")) return `muxer ${names} (for subtitles)`;
  return kind === "encoder" ? names : `${kind} ${names}`;
}

/** Leaves out needs that another need implies: a node with `libaom-av1` has `libsvtav1` or `libaom-av1`. */
const withoutImplied = (needs: readonly Need[]): Need[] =>
  needs.filter(
    (need, at) =>
      !needs.some((other, from) => from !== at && implies(other, need) && !(implies(need, other) && from > at)),
  );

const implies = (a: Need, b: Need): boolean => a.kind === b.kind && a.anyOf.every((name) => b.anyOf.includes(name));

const keyOf = ({ kind, anyOf }: Need): string => `${kind} ${anyOf.join(" ")}`;
const byKey = (a: Need, b: Need): number => (keyOf(a) < keyOf(b) ? -1 : 1);
