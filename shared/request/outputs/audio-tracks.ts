// The parameter `audio` of outputs with audio: the list of their audio tracks (docs/audio-tracks.md).
import * as z from "zod";
import { TRACK_CONTAINER_TRAITS, type TrackContainer } from "../../format/containers.ts";
import type { AudioTrackSpec } from "../../format/format-spec.ts";
import { parseFormat } from "../../format/parse-format.ts";
import { AUDIO_ROLES, type RequestedAudio, type RequestedTrack } from "../../job/audio-tracks.ts";
import { languageTag, UNDETERMINED } from "../../media/languages.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { flag, oneOf, PARAMETERS, whole } from "../../parameters/parameter.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { invalid } from "../parse-section.ts";
import { allowedUrl, url } from "./output-params.ts";
import { LANGUAGE_TAG, quotable } from "./subtitles.ts";

const MAX_TRACKS = 16;
const MAX_MERGED = 8;
/** Streams of a file that ffmpeg opens. */
const MAX_NUMBER = 1000;
const MAX_OFFSET = 600;
const MAX_GAIN = 2;
/** Output channels and input channels of a matrix. */
const MATRIX = { outputs: 8, inputs: 16 };

const LANGUAGE_RULE = "must be a language tag, such as en or pt-BR";
const languageParam = z
  .string("must be a language tag")
  .regex(LANGUAGE_TAG, LANGUAGE_RULE)
  .refine((tag) => languageTag(tag) !== UNDETERMINED || /^und/i.test(tag), LANGUAGE_RULE);

const trackNumber = whole(1, MAX_NUMBER);
const gain = z
  .number("must be a number")
  .min(-MAX_GAIN, `must be ${-MAX_GAIN} or more`)
  .max(MAX_GAIN, `must be ${MAX_GAIN} or less`);

const track = strictObject({
  from: z
    .union(
      [trackNumber, languageParam, z.array(trackNumber).min(2).max(MAX_MERGED)],
      `must be a number of an audio track, a language tag, or a list of 2 to ${MAX_MERGED} numbers`,
    )
    .optional()
    .describe(
      "An audio track of the input: its number from 1, or its language (`en` also matches `en-US`). A list of numbers " +
        "merges the channels of these tracks. By default the track that outputs without `audio` have",
    ),
  url: url.optional().describe("Another file instead of `from`, up to 4 GB: its audio is the track"),
  offset: z
    .number("must be a number of seconds")
    .min(-MAX_OFFSET, `must be ${-MAX_OFFSET} or more`)
    .max(MAX_OFFSET, `must be ${MAX_OFFSET} or less`)
    .default(0)
    .describe("Seconds by which the track starts later; a negative offset removes its start"),
  language: languageParam.optional().describe("BCP 47 tag; by default the language of the input's track, or `und`"),
  name: quotable("a name", 100)
    .optional()
    .describe("The name that players show; by default the title of the input's track, or the name of its language"),
  role: oneOf(AUDIO_ROLES).optional().describe("The purpose of the track; by default as in the input, or `main`"),
  default: flag.default(false).describe("Players start with this track; by default with the first"),
  format: z
    .string("must be a string with the audio of a format")
    .regex(/^[\w.-]+$/, "must be the audio of a format, such as aac_128k_48000hz_stereo")
    .optional()
    .describe("The audio part of a format, such as `aac_128k_48000hz_stereo`; by default the audio of the output"),
  map: z
    .array(
      z.array(gain, "must be a list of gains").min(1).max(MATRIX.inputs),
      "must be a list with a list of gains for each channel",
    )
    .min(1)
    .max(MATRIX.outputs)
    .optional()
    .describe("For each channel of the track, the gains (-2 to 2) of the input's channels"),
  optional: flag.default(false).describe("Leave the track out if the input lacks it; by default the output fails"),
});

export const audio = z
  .union(
    [z.literal("all"), z.array(track).min(1).max(MAX_TRACKS)],
    `must be \`all\`, or a list of 1 to ${MAX_TRACKS} audio tracks`,
  )
  .optional()
  .describe("The audio tracks: a list, or `all` for each audio track of the input that can be decoded")
  .register(PARAMETERS, {
    label: "Audio tracks of the source",
    help: "Other choices are in the JSON",
    forms: ["video", "stream"],
  });

type Params = z.infer<typeof audio>;
type TrackParams = z.infer<typeof track>;

/** The output with its tracks. `format`: the audio of its formats; null: none of them has audio. */
export type AudioOwner = {
  readonly container: TrackContainer;
  readonly format: AudioTrackSpec | null;
  /** Reason why the output may have only one audio track; null: it may have several. */
  readonly single: string | null;
  /** True if a part of the source is copied. */
  readonly trimsCopy: boolean;
};

/** Returns the requested tracks as outputs store them; an empty object without the parameter. */
export function parseAudio(
  params: Params,
  field: string,
  owner: AudioOwner,
  allow: AllowPrivate,
): Result<{ readonly audioTracks?: RequestedAudio }> {
  if (params === undefined) return ok({});
  const { format, single } = owner;
  if (!format) return invalid("output_param_not_valid", `\`${field}\` is not allowed, because the format has no audio`);
  if (single && (params === "all" || params.length > 1)) {
    return invalid("output_param_not_valid", `\`${field}\` has several tracks, but ${single}`);
  }
  if (params === "all") return ok({ audioTracks: "all" });
  if (params.filter((track) => track.default).length > 1) {
    return invalid("output_param_not_valid", `\`${field}\` must have at most one default`);
  }
  const audioTracks: RequestedTrack[] = [];
  for (const [at, one] of params.entries()) {
    const parsed = parseTrack(one, `${field}.${at}`, owner, allow);
    if (!parsed.ok) return parsed;
    audioTracks.push(parsed.value);
  }
  return ok({ audioTracks });
}

function parseTrack(
  params: TrackParams,
  field: string,
  { container, format: common, trimsCopy }: AudioOwner,
  allow: AllowPrivate,
): Result<RequestedTrack> {
  const { from = null, language, name, role = null, map = null, offset } = params;
  if (params.url !== undefined && from !== null) {
    return invalid("output_param_not_valid", `\`${field}\` must have \`from\` or \`url\`, not both`);
  }
  if (Array.isArray(from) && new Set(from).size < from.length) {
    return invalid("output_param_not_valid", `\`${field}.from\` must not repeat a number`);
  }
  const checked = params.url === undefined ? ok(null) : allowedUrl(params.url, `${field}.url`, allow);
  if (!checked.ok) return checked;
  const format = params.format === undefined ? ok(null) : parseTrackFormat(container, params.format, field);
  if (!format.ok) return format;
  const isCopied = (format.value ?? common)?.codec === "copy";
  const changes = { map: map !== null, offset: offset !== 0, from: Array.isArray(from) };
  const change = Object.entries(changes).find(([, isChanged]) => isChanged)?.[0];
  if (isCopied && change) {
    const why = "is not allowed, because the format copies the audio without encoding it";
    return invalid("output_param_not_valid", `\`${field}.${change}\` ${why}`);
  }
  if (trimsCopy && (offset !== 0 || checked.value !== null)) {
    const param = offset !== 0 ? "offset" : "url";
    const why = "is not allowed in a copy with an `offset`, which starts at a keyframe of the input";
    return invalid("output_param_not_valid", `\`${field}.${param}\` ${why}`);
  }
  return ok({
    from: typeof from === "string" ? languageTag(from) : from,
    url: checked.value,
    offsetMs: offset * 1000,
    language: language === undefined ? null : languageTag(language),
    name: name?.normalize("NFC") ?? null,
    role,
    isDefault: params.default,
    format: format.value,
    map,
    isOptional: params.optional,
  });
}

function parseTrackFormat(container: TrackContainer, text: string, field: string): Result<AudioTrackSpec> {
  const isAudioOnly = TRACK_CONTAINER_TRAITS[container].video.length === 0;
  const parsed = parseFormat(`${container}:${isAudioOnly ? "" : ":"}${text}`);
  if (!parsed.ok) return invalid("output_param_not_valid", `\`${field}.format\`: ${parsed.error.message}`);
  if (parsed.value.type !== "video" || !parsed.value.audio) {
    return invalid("output_param_not_valid", `\`${field}.format\`: \`${text}\` has no audio`);
  }
  return ok(parsed.value.audio);
}
