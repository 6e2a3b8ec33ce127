// Parameters of a file of text (api-v2 §5).

import type { TextFormat } from "../../format/format-spec.ts";
import type { TextOutput } from "../../job/output-spec.ts";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { PARAMETERS } from "../../parameters/parameter.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { parseSection } from "../parse-section.ts";
import { commonParams, fileParam, type Named } from "./output-params.ts";
import { language, parseTextSource, textSource } from "./subtitles.ts";

export const TextParams = strictObject({
  path: fileParam(),
  ...commonParams,
  url: textSource.url
    .clone()
    .register(PARAMETERS, { label: "File instead of a track", example: "https://example.com/en.srt", cli: false }),
  from: textSource.from
    .clone()
    .register(PARAMETERS, {
      label: "Track of the source",
      example: "en",
      help: "Number, language or speech",
      first: true,
    }),
  optional: textSource.optional
    .describe("Skip the output if the input lacks the track")
    .register(PARAMETERS, { label: "Skip the output without its track" }),
  shift: textSource.shift.clone().register(PARAMETERS, { label: "Show later by", help: "Seconds; negative: earlier" }),
  language: language
    .describe("BCP 47 tag of the speech, or of the file at `url` for text that is not in Unicode")
    .register(PARAMETERS, { label: "Language", example: "de", help: "Of speech, or of a file that is not in Unicode" }),
}).describe("A WebVTT or SubRip file with text of the input or of another file");

export function parseText(
  { name, ...base }: Named,
  format: TextFormat,
  params: object,
  allow: AllowPrivate,
): Result<TextOutput> {
  const field = `outputs.${name}`;
  const parsed = parseSection(TextParams, params, field, "output_param_not_valid");
  if (!parsed.ok) return parsed;
  const { key = name, if: condition = null, path, ...requested } = parsed.value;
  const text = parseTextSource(requested, field, allow);
  return text.ok ? ok({ ...base, ...format, key, condition, path, text: text.value }) : text;
}
