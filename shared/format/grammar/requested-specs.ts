// Specs of a format as text, by their names in the `format` hash (api-v2 §4).

/** Specs of the video, of the audio, and of the file. */
export const VIDEO_SPECS = [
  "resolution",
  "video_codec",
  "video_bitrate",
  "fps",
  "quality",
  "maxrate",
  "pix_fmt",
  "2pass",
  "vprofile",
  "level",
] as const;
export const AUDIO_SPECS = ["audio_codec", "audio_bitrate", "sample_rate", "audio_channel"] as const;
export const FILE_SPECS = ["metadata", "frag"] as const;
/** Specs that are options in the text of a format: `name=value`. */
export const OPTIONS = ["quality", "maxrate", "pix_fmt", "2pass", "metadata", "frag", "vprofile", "level"] as const;

export type SpecName = (typeof VIDEO_SPECS)[number] | (typeof AUDIO_SPECS)[number] | (typeof FILE_SPECS)[number];

/** Each spec in the client's spelling, with its unit: `video_bitrate` → `500k`. Options without a value are `1`. */
export type RequestedSpecs = ReadonlyMap<SpecName, string>;

/**
 * Error for a format that is not valid or not supported. `spec` is the invalid spec; null for the format as a whole.
 */
export class FormatError extends Error {
  readonly spec: SpecName | null;

  constructor(spec: SpecName | null, message: string) {
    super(message);
    this.spec = spec;
  }
}

/** Returns a spec as in the text of a format. Options include their names. */
export const spelled = (spec: SpecName, text: string): string =>
  OPTIONS.some((option) => option === spec) ? `\`${spec}=${text}\`` : `\`${text}\``;

/** Returns the value of a spec; undefined if it was not requested. Throws the errors of `reader`. */
export function read<Value>(
  requested: RequestedSpecs,
  spec: SpecName,
  reader: (text: string) => Value,
): Value | undefined {
  const text = requested.get(spec);
  return text === undefined ? undefined : reader(text);
}

/** Throws FormatError if one of these specs was requested. */
export function rejectSpecs(requested: RequestedSpecs, unsupported: readonly SpecName[], reason: string): void {
  for (const spec of unsupported) {
    const text = requested.get(spec);
    if (text !== undefined) throw new FormatError(spec, `${spelled(spec, text)} is not allowed: ${reason}`);
  }
}
