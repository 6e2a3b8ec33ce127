// The sizes to expect of planned outputs. Pure.
import type { ExpectedSize } from "#shared/api/job-responses.ts";
import type { AudioTrackSpec, VideoTrackSpec } from "#shared/format/format-spec.ts";
import type { VideoOutput } from "#shared/job/output-spec.ts";
import { defaultBitrateKbps, encodedRate, isBitrateCodec } from "#shared/plan/encoders/bitrates.ts";
import { fitGeometry } from "#shared/plan/filters/frame-geometry.ts";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import type { Size } from "#shared/plan/source/frame-size.ts";
import type { SourceTracks } from "#shared/plan/source/source-tracks.ts";
import type { PlannedStream, StreamTrack } from "#shared/plan/streams/planned-stream.ts";
import type { StreamVariants } from "#shared/plan/streams/stream-variants.ts";

/** Null: nothing determines the rate. */
type Rate = { readonly kbps: number; readonly basis: ExpectedSize["basis"] } | null;

/** Bitrates of the quality steps 1 to 5 as multiples of the default bitrate: about a factor of two for two steps. */
const QUALITY_FACTORS = [1, 0.4, 0.55, 0.75, 1, 1.5];

function videoRate(video: VideoTrackSpec, area: Size): Rate {
  const { codec } = video;
  const rate = encodedRate(video, area);
  if ("bitrateKbps" in rate && rate.bitrateKbps !== null) return { kbps: rate.bitrateKbps, basis: "bitrate" };
  if (!isBitrateCodec(codec)) return null;
  const kbps = defaultBitrateKbps(codec, area) * ("quality" in rate ? (QUALITY_FACTORS[rate.quality] ?? 1) : 1);
  if (rate.maxrateKbps !== null && rate.maxrateKbps <= kbps) return { kbps: rate.maxrateKbps, basis: "maxrate" };
  return { kbps, basis: "bitrateKbps" in rate ? "bitrate" : "quality" };
}

const audioRate = ({ bitrateKbps }: AudioTrackSpec): Rate =>
  bitrateKbps === null ? null : { kbps: bitrateKbps, basis: "bitrate" };

/** The size of tracks with these rates. The vaguest basis counts. */
export function sizeOf(rates: readonly Rate[], seconds: number): { expected_size?: ExpectedSize } {
  const known = rates.flatMap((rate) => rate ?? []);
  if (known.length === 0 || known.length < rates.length) return {};
  const kbps = known.reduce((sum, rate) => sum + rate.kbps, 0);
  const basis = (["quality", "maxrate"] as const).find((vague) => known.some((rate) => rate.basis === vague));
  return { expected_size: { bytes: Math.round(kbps * 125 * seconds), basis: basis ?? "bitrate" } };
}

export function fileSize(
  output: VideoOutput,
  { tracks }: PlannedOutput,
  source: SourceTracks,
  sourceSeconds: number,
): { expected_size?: ExpectedSize } {
  const { video, audio, offsetMs, durationMs } = output;
  const rest = Math.max(0, sourceSeconds - offsetMs / 1000);
  const area = video && source.video && fitGeometry({ ...output, size: video.size }, source.video, 2).activeArea;
  const rates = [
    ...(video && area ? [videoRate(video, area)] : []),
    ...tracks.flatMap(({ kind }) => (kind === "audio" && audio ? audioRate(audio) : [])),
  ];
  return sizeOf(rates, Math.min(rest, (durationMs ?? Infinity) / 1000));
}

/** The rates of a stream's tracks by their names; a rate for each package that contains the track. */
export function trackRates(
  { videos, audios, variants }: StreamVariants,
  stream: PlannedStream,
): ReadonlyMap<string, readonly Rate[]> {
  const rateOf = ({ name, video, audio }: StreamTrack): Rate => {
    const isOfGroup = (group: string | undefined): boolean =>
      group !== undefined && audio?.groups.includes(group) === true;
    const at = stream.variants.findIndex(
      (names) => names.video === name || names.audio === name || isOfGroup(names.group),
    );
    const variant = variants[at];
    const [encodedVideo, encodedAudio] = [videos[variant?.video ?? -1], audios[variant?.audio ?? -1]];
    if (video) return encodedVideo ? videoRate(encodedVideo, video.frame) : null;
    return encodedAudio ? audioRate(encodedAudio) : null;
  };
  return new Map(
    stream.tracks.map((track) => [
      track.name,
      [track.ts, track.fmp4].flatMap((file) => (file === null ? [] : rateOf(track))),
    ]),
  );
}
