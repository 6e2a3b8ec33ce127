// Writes client/types/api.ts from the schemas of the API. The file is not committed.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ERRORS } from "#shared/errors.ts";
import {
  AUDIO_CHOICES,
  CHANNELS,
  PIXEL_FORMATS,
  PROFILES,
  SAMPLE_RATES_HZ,
  VIDEO_CHOICES,
} from "#shared/format/codecs.ts";
import { AUDIO_CONTAINERS, CONTAINERS_BY_NAME, isImageContainer, isTextContainer } from "#shared/format/containers.ts";
import { FRAME_RATES, PRESETS } from "#shared/format/presets.ts";
import { Components, printTypes, reachable } from "./print-types.ts";

const FILE = fileURLToPath(new URL("../../client/types/api.ts", import.meta.url));

/** Types that are written by hand, because JSON Schema cannot describe their property names (types/job-request.ts). */
const BY_HAND = new Set(["JobRequest", "Outputs", "Error"]);
const REQUESTS = [
  "JobRequest",
  "NewProbe",
  "Settings",
  "InputRequest",
  "Storage",
  "VideoParams",
  "ImageParams",
  "TextParams",
  "HttpStreamParams",
];

const union = (values: Iterable<string | number>): string =>
  [...values].map((value) => JSON.stringify(value)).join(" | ");

function formats(): string {
  const names = [...CONTAINERS_BY_NAME];
  const named = (accepts: (name: string) => boolean): string =>
    union(names.filter(([, container]) => accepts(container)).map(([name]) => name));
  const isAudio = (container: string): boolean => AUDIO_CONTAINERS.some((name) => name === container);
  const isImage = (container: string): boolean =>
    names.some(([, name]) => name === container && isImageContainer(name));
  const isText = (container: string): boolean => names.some(([, name]) => name === container && isTextContainer(name));
  const types = {
    VideoContainer: named((container) => !isAudio(container) && !isImage(container) && !isText(container)),
    AudioContainer: named(isAudio),
    ImageContainer: named(isImage),
    TextContainer: named(isText),
    VideoCodec: union(VIDEO_CHOICES),
    AudioCodec: union(AUDIO_CHOICES),
    Channels: union(CHANNELS),
    SampleRate: union(SAMPLE_RATES_HZ),
    FrameRate: union(FRAME_RATES.keys()),
    Preset: union(PRESETS.keys()),
    PixelFormat: union(PIXEL_FORMATS),
    Profile: union(PROFILES),
    ErrorCode: `${union(Object.keys(ERRORS))} | \`input_http_\${number}\``,
  };
  return Object.entries(types)
    .map(([name, type]) => `export type ${name} = ${type};\n`)
    .join("\n");
}

/** The content of the file. It loads the Worker's code at run time, because the Worker's types differ from Node's. */
async function content(): Promise<string> {
  const { openApiDocument } = await import(new URL("../../worker/http/openapi/document.ts", import.meta.url).href);
  const components = Components.parse(openApiDocument().components.schemas);
  const types = printTypes(components, reachable(components, REQUESTS), BY_HAND);
  return `// The types of the API, from its schemas: \`npm run client:types\`.\n\n${formats()}\n${types}`;
}

writeFileSync(FILE, await content());
