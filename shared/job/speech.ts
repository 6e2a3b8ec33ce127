// Captions that nodes make of the input's speech, with models of Whisper.
import * as z from "zod";
import { Line } from "../line.ts";
import { UNDETERMINED } from "../media/languages.ts";
import { NAMED } from "../named-schemas.ts";
import { MAX_LENGTH_MS } from "../report-limits.ts";

/** The value of `from` for these captions. */
export const SPEECH = "speech";

/** Languages of Whisper's multilingual models, by its codes (`g_lang` in whisper.cpp). */
export const SPEECH_LANGUAGES: readonly string[] = (
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml " +
  "cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am " +
  "yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su"
).split(" ");

/** A text track of speech by its language: `speech-de`; without a language, the model finds it. */
export type SpeechChannel = `speech${string}`;

/** `language`: the requested BCP 47 tag. */
export function speechChannel(language: string = UNDETERMINED): SpeechChannel {
  const code = speechLanguage(language);
  return code === null ? SPEECH : `${SPEECH}-${code}`;
}

/** Whisper's code of a channel's language; null: the model finds it. */
export const channelLanguage = (channel: SpeechChannel): string | null =>
  speechLanguage(channel.slice(`${SPEECH}-`.length));

/** All channels that outputs can request. */
export const SPEECH_CHANNELS: readonly SpeechChannel[] = [SPEECH, ...SPEECH_LANGUAGES.map(speechChannel)];

/** Whisper's code of a BCP 47 tag; null if it has none. */
export function speechLanguage(tag: string): string | null {
  const [code = ""] = tag.toLowerCase().split("-");
  return SPEECH_LANGUAGES.includes(code) ? code : null;
}

export const SpeechMetadata = z
  .object({
    model: Line(100).describe("The file name of the model"),
    language: Line(20).describe("The language that was requested, or that the model found"),
    seconds: z
      .number()
      .min(0)
      .max(MAX_LENGTH_MS / 1000)
      .describe("How long the recognition took"),
    words: z.int().min(0).max(10_000_000),
  })
  .describe('Captions that were made of speech, with `"from": "speech"`')
  .register(NAMED, { id: "SpeechMetadata" });
export type SpeechMetadata = z.infer<typeof SpeechMetadata>;

/** An entry per language: an output may have captions in several. */
export const OutputSpeech = z.array(SpeechMetadata).max(SPEECH_CHANNELS.length);
