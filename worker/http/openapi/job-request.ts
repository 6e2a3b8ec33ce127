// The body of POST /v2/jobs as JSON Schema. Its sections come from zod. The property names of `outputs` have a grammar.
import { CONTAINERS_BY_NAME, type Container, isImageContainer, isTextContainer } from "#shared/format/containers.ts";
import { MAX_FORMAT_CHARS } from "#shared/format/grammar/split-format.ts";
import { MAX_RECEIVERS } from "#shared/request/notification-section.ts";
import { MAX_OUTPUTS } from "#shared/request/outputs/outputs-section.ts";
import { type JsonSchema, schemaRef } from "./json-schema.ts";

const ref = (name: string, description: string): JsonSchema => ({ description, $ref: schemaRef(name) });

const SECTIONS = ["input", "storage", "outputs", "notification"];

export const JOB_REQUEST: JsonSchema = {
  type: "object",
  description: "A job: its input, outputs, storage and notification, or a template and the sections that it lacks",
  properties: {
    template: {
      type: "string",
      description:
        "The name of a template, such as `web`, or a version of it, such as `web@3`. The other sections are merged over it: " +
        "null removes a field, and lists are replaced (RFC 7396). Secrets of the template are only used for its own bucket or host.",
    },
    vars: {
      type: "object",
      description: "The values of the template's variables: strings, numbers, booleans, lists and objects",
      additionalProperties: true,
    },
    input: ref("InputRequest", "The media file"),
    storage: {
      description: "Where to store the outputs: a storage, or the name of a saved storage and the fields to change",
      anyOf: [
        { $ref: schemaRef("Storage") },
        {
          type: "object",
          properties: { use: { type: "string", description: "The name of a saved storage" } },
          required: ["use"],
          additionalProperties: true,
        },
      ],
    },
    outputs: ref("Outputs", "The outputs to create"),
    notification: {
      description: `Where to send the events of the job: a receiver, or a list of up to ${MAX_RECEIVERS}`,
      anyOf: [
        { $ref: schemaRef("Notification") },
        { type: "array", items: { $ref: schemaRef("Notification") }, minItems: 1, maxItems: MAX_RECEIVERS },
      ],
    },
    settings: ref("Settings", "Settings of the job"),
    tags: ref("Tags", "Names and values to find the job by"),
  },
  anyOf: [{ required: SECTIONS }, { required: ["template"] }],
};

const section = (description: string): JsonSchema => ({ description, type: ["object", "string"] });

export const NEW_TEMPLATE: JsonSchema = {
  type: "object",
  description: "Sections of a job. Strings may contain variables, `{{ vars.name }}`",
  properties: {
    input: section("The media file"),
    storage: section("Where to store the outputs"),
    outputs: section("The outputs to create"),
    notification: { description: "Where to send the events of the job", type: ["object", "array", "string"] },
    settings: section("Settings of the job"),
    tags: section("Names and values to find the job by"),
    vars: { type: "object", description: "Default values of variables", additionalProperties: true },
    ingest: {
      type: "object",
      description: "Filters of bucket events: `prefix` and `suffix` of keys, each a string or a list",
      additionalProperties: true,
    },
  },
  additionalProperties: false,
};

const CONTAINER_NAMES = [...CONTAINERS_BY_NAME];
const namesOf = (accepts: (container: Container) => boolean): string =>
  CONTAINER_NAMES.filter(([, container]) => accepts(container))
    .map(([name]) => name)
    .join("|");

const oneOrMany = (name: string, description: string): JsonSchema => ({
  description,
  anyOf: [{ $ref: schemaRef(name) }, { type: "array", items: { $ref: schemaRef(name) }, minItems: 1 }],
});

export const OUTPUTS: JsonSchema = {
  type: "object",
  description:
    `Each property is an output, or an array of outputs, with its format as the name; at most ${MAX_OUTPUTS} outputs in total. ` +
    "Keys must be unique. Two outputs must not write the same object, unless both have an `if`: then the first one whose " +
    "condition is true is created, and a later output whose condition is also true fails with `output_path_not_unique`.",
  minProperties: 1,
  maxProperties: MAX_OUTPUTS,
  propertyNames: {
    type: "string",
    maxLength: MAX_FORMAT_CHARS,
    description:
      "A format: `container:video:audio:options` for files with video, `container:audio:options` for audio files, " +
      "`container:size` for images, `vtt` or `srt` for text, or `httpstream`. Separate the specs of a segment by `_`, and options by `,`. " +
      "Trailing segments are optional; an empty segment means defaults. Formats are case-insensitive.",
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
    [`^(?:${namesOf((container) => !isImageContainer(container) && !isTextContainer(container))})(?::|$)`]: oneOrMany(
      "VideoParams",
      "A file with video and audio, or with one of them",
    ),
    [`^(?:${namesOf(isImageContainer)})(?::|$)`]: oneOrMany("ImageParams", "Images from the video"),
    [`^(?:${namesOf(isTextContainer)})$`]: oneOrMany("TextParams", "A file of text"),
  },
};
