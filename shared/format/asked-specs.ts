// What a format asks for, still in words: each spec by the name that the `format` hash has for it (api-v2 §4).

/** Specs of the picture, of the sound, and of the file. */
export const PICTURE_SPECS = [
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
export const SOUND_SPECS = ["audio_codec", "audio_bitrate", "sample_rate", "audio_channel"] as const;
export const FILE_SPECS = ["metadata", "frag"] as const;
/** Those that are options in a format's text: `name=value`. */
export const OPTIONS = ["quality", "maxrate", "pix_fmt", "2pass", "metadata", "frag", "vprofile", "level"] as const;

export type SpecName = (typeof PICTURE_SPECS)[number] | (typeof SOUND_SPECS)[number] | (typeof FILE_SPECS)[number];

/** As it was written, with its unit: `video_bitrate` → `500k`. Options without a value are `1`. */
export type AskedSpecs = ReadonlyMap<SpecName, string>;

/** A format that cannot be understood or made; `spec` is what is wrong with it, null for the format as a whole. */
export class FormatError extends Error {
  readonly spec: SpecName | null;

  constructor(spec: SpecName | null, message: string) {
    super(message);
    this.spec = spec;
  }
}

/** What the spec looks like in a format's text; options with their names. */
export const spelled = (spec: SpecName, text: string): string =>
  OPTIONS.some((option) => option === spec) ? `\`${spec}=${text}\`` : `\`${text}\``;

/** The value of a spec; undefined when it was not asked for. Throws what `reader` throws. */
export function read<Value>(asked: AskedSpecs, spec: SpecName, reader: (text: string) => Value): Value | undefined {
  const text = asked.get(spec);
  return text === undefined ? undefined : reader(text);
}

/** Throws FormatError when one of these specs was asked for. */
export function refuseSpecs(asked: AskedSpecs, refused: readonly SpecName[], why: string): void {
  for (const spec of refused) {
    const text = asked.get(spec);
    if (text !== undefined) throw new FormatError(spec, `${spelled(spec, text)} is not possible: ${why}`);
  }
}
