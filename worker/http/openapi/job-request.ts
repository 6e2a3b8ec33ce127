// The body of POST /v2/jobs as JSON Schema: its sections are zod's, and property names of `outputs` are a grammar.
import { CONTAINERS_BY_NAME, isImageContainer } from "#shared/format/containers.ts";
import { MAX_FORMAT_CHARS } from "#shared/format/split-format.ts";
import { MAX_OUTPUTS } from "#shared/request/outputs/outputs-section.ts";
import { type JsonSchema, schemaRef } from "./json-schema.ts";

const ref = (name: string, description: string): JsonSchema => ({ description, $ref: schemaRef(name) });

export const JOB_REQUEST: JsonSchema = {
  type: "object",
  description: "What to make of which input, where to store it, and whom to tell",
  properties: {
    input: ref("InputRequest", "The media file"),
    storage: ref("Storage", "Where the outputs go"),
    outputs: ref("Outputs", "What to make"),
    notification: ref("Notification", "Who is told of the job's events"),
    settings: ref("Settings", "Of the job as a whole"),
  },
  required: ["input", "storage", "outputs", "notification"],
};

const CONTAINER_NAMES = [...CONTAINERS_BY_NAME];
const namesOf = (images: boolean): string =>
  CONTAINER_NAMES.filter(([, container]) => isImageContainer(container) === images)
    .map(([name]) => name)
    .join("|");

const oneOrMany = (name: string, description: string): JsonSchema => ({
  description,
  anyOf: [{ $ref: schemaRef(name) }, { type: "array", items: { $ref: schemaRef(name) }, minItems: 1 }],
});

export const OUTPUTS: JsonSchema = {
  type: "object",
  description:
    `Each property is one output, named by its format, or an array of outputs of that format; ${MAX_OUTPUTS} outputs in all. ` +
    "Keys must differ, and no two outputs may write the same object, unless each of them has an `if`: then the first " +
    "whose condition holds is made, and a later one whose condition holds too fails with `output_path_not_unique`.",
  minProperties: 1,
  maxProperties: MAX_OUTPUTS,
  propertyNames: {
    type: "string",
    maxLength: MAX_FORMAT_CHARS,
    description:
      "A format: `container:video:audio:options` for files with a picture, `container:audio:options` for sound alone, " +
      "`container:size` for images, or `httpstream`. Specs in a segment are joined by `_`, options by `,`; " +
      "segments at the end may be left out, an empty one means defaults. Upper and lower case are the same.",
    examples: [
      "mp4:720p",
      "webm:vp9_1080p_2000k:opus_96k",
      "mp4:720p::quality=4",
      "mp3:192k",
      "jpg:320x",
      "httpstream",
    ],
  },
  patternProperties: {
    "^httpstream$": oneOrMany("HttpStreamParams", "HLS, DASH or both"),
    [`^(?:${namesOf(false)})(?::|$)`]: oneOrMany("VideoParams", "A file of picture and sound, or of either"),
    [`^(?:${namesOf(true)})(?::|$)`]: oneOrMany("ImageParams", "Images out of the picture"),
  },
};
