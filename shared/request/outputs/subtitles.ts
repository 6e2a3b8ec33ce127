// The parameter `subtitles`: tracks of text from files or from the input (api-v2 §5).
import * as z from "zod";
import { SPEECH, speechLanguage } from "../../job/speech.ts";
import { CAPTION_CHANNELS, SUBTITLE_KINDS, type SubtitleSpec, type Subtitles } from "../../job/subtitles.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { type Declaration, flag, oneOf } from "../../parameters/parameter.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { invalid } from "../parse-section.ts";
import { allowedUrl, url } from "./output-params.ts";

const MAX_SUBTITLES = 50;
const MAX_TRACK = 1000;
/** Timecodes of tapes count up to a day: files from them often start at 01:00:00:00 or 10:00:00:00. */
const MAX_SHIFT_SECONDS = 86_400;
export const LANGUAGE_TAG = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$/;

/** Text that playlists put in quotes. HLS cannot escape quotes (RFC 8216 §4.2). */
export const quotable = (what: string, max: number) =>
  z
    .string(`must be a string with ${what}`)
    .min(1, "must not be empty")
    .max(max, `must have at most ${max} characters`)
    .regex(/^[^"\p{Cc}]*$/u, "must not contain quotes or control characters");

export const language = z
  .string("must be a language tag")
  .regex(LANGUAGE_TAG, "must be a language tag, such as en or pt-BR")
  .optional()
  .describe("BCP 47 tag; required with `url`. With `from`, the language of the track or speech by default");

const FROM =
  "must be the number of a subtitle track of the input, from 1, its language tag, such as en, one of cc1 to cc4, or " +
  SPEECH;
const SHIFT = `must be a number of seconds from -${MAX_SHIFT_SECONDS} to ${MAX_SHIFT_SECONDS}`;

/** The source of text, with its times. */
export const textSource = {
  url: url
    .optional()
    .describe("The http or https URL of a WebVTT, SubRip, ASS, TTML or SCC file. Either `url` or `from` is required"),
  from: z
    .union(
      [
        z.int(FROM).min(1, FROM).max(MAX_TRACK, FROM),
        z.string().regex(LANGUAGE_TAG, FROM),
        z.enum([...CAPTION_CHANNELS, SPEECH], FROM),
      ],
      FROM,
    )
    .optional()
    .describe(
      "A text track of the input: its number among the subtitle tracks, from 1, or its language tag. cc1 to cc4: " +
        "closed captions (CEA-608) in H.264, HEVC or MPEG-2 video. speech: captions that the node makes of the speech " +
        "in the input's audio, on nodes with `--speech`",
    ),
  optional: flag.optional().describe("Leave the track out, with a note, if the input lacks it"),
  shift: z
    .number(SHIFT)
    .min(-MAX_SHIFT_SECONDS, SHIFT)
    .max(MAX_SHIFT_SECONDS, SHIFT)
    .optional()
    .describe("Seconds by which the text is shown later; negative: earlier"),
};

const subtitle = strictObject({
  ...textSource,
  language,
  name: quotable("a name", 100)
    .optional()
    .describe("The name that players show. By default the title of the input's track, or the name of the language"),
  default: flag.optional().describe("True for the track that is shown by default, at most one"),
  kind: oneOf(SUBTITLE_KINDS).optional().describe("captions are for viewers who cannot hear; subtitles by default"),
  forced: flag.optional().describe("True for text that all viewers need. By default as in the input's track"),
});
type Requested = z.infer<typeof subtitle>;

export const subtitles = z
  .union(
    [
      z.literal("all"),
      z
        .array(subtitle, "must be a list of subtitles")
        .max(MAX_SUBTITLES, `must have at most ${MAX_SUBTITLES} subtitles`),
    ],
    "must be a list of subtitles, or all",
  )
  .describe("Text tracks, at most one of them the default. `all`: each text track of the input");

/** The declaration of `subtitles`, whose schema depends on the output. */
export const SUBTITLES: Declaration = {
  label: "Subtitles of the source",
  help: "Other choices are in the JSON",
  forms: ["video", "stream"],
};

/** Normalizes a name as playlists do (RFC 8216 §4.1): names that look the same are the same. */
const composed = (name: string): string => name.normalize("NFC");

/** Parses subtitles. Names must be unique, and at most a single entry may be the default (RFC 8216 §4.3.4.1.1). */
export function parseSubtitles(
  requested: z.infer<typeof subtitles>,
  field: string,
  allow: AllowPrivate,
): Result<Subtitles> {
  if (requested === "all") return ok(requested);
  const parsed: SubtitleSpec[] = [];
  for (const [at, subtitle] of requested.entries()) {
    const one = parseSubtitle(subtitle, `${field}.${at}`, allow);
    if (!one.ok) return one;
    parsed.push(one.value);
  }
  const twice = parsed.findIndex(
    ({ name }, at) => name !== undefined && parsed.findIndex((other) => other.name === name) < at,
  );
  if (twice >= 0)
    return invalid(
      "output_param_not_valid",
      `\`${field}.${twice}.name\` must be unique, but other subtitles have the same name`,
    );
  if (parsed.filter((subtitle) => subtitle.default).length > 1) {
    return invalid("output_param_not_valid", `\`${field}\` must have at most one default`);
  }
  return ok(parsed);
}

function parseSubtitle(requested: Requested, field: string, allow: AllowPrivate): Result<SubtitleSpec> {
  const { url, language } = requested;
  const name = requested.name === undefined ? {} : { name: composed(requested.name) };
  const parsed = parseTextSource({ ...requested, ...name }, field, allow);
  if (!parsed.ok || url === undefined) return parsed;
  if (language === undefined) {
    const rule = "is missing; with `url` it must be a language tag";
    return invalid("output_param_not_valid", `\`${field}.language\` ${rule}`);
  }
  return ok({ name: composed(language), default: false, ...parsed.value });
}

/** Parses the source of a track, and keeps its other fields. */
export function parseTextSource(
  { shift, optional, ...requested }: Partial<Requested>,
  field: string,
  allow: AllowPrivate,
): Result<SubtitleSpec> {
  const { url, from, language, forced } = requested;
  if ((url === undefined) === (from === undefined)) {
    return invalid("output_param_not_valid", `\`${field}\` must have either \`url\` or \`from\``);
  }
  if (from === SPEECH && forced !== undefined) {
    return invalid("output_param_not_valid", `\`${field}.forced\` is not possible with \`"from": "speech"\``);
  }
  if (from === SPEECH && language !== undefined && speechLanguage(language) === null) {
    const rule = "must be a language that Whisper knows, such as en, or be left out: the model then finds the language";
    return invalid("output_param_not_valid", `\`${field}.language\` ${rule}`);
  }
  const checked = url === undefined ? ok(undefined) : allowedUrl(url, `${field}.url`, allow);
  if (!checked.ok) return checked;
  const times = { shiftMs: shift ? shift * 1000 : undefined, optional: optional ? (true as const) : undefined };
  return ok(withoutUndefined({ ...requested, url: checked.value, ...times }));
}

const withoutUndefined = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
