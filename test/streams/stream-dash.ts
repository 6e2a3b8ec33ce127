// A DASH package, read from its XML (ISO 23009-1): a single period, and segment templates with timelines.
import { XMLParser } from "fast-xml-parser";
import * as z from "zod";
import { textAt } from "./stream-bytes.ts";
import type { PackageSegment, PackageTrack, StreamPackage } from "./stream-package.ts";

const number = z.coerce.number();

const Template = z.object({
  timescale: number,
  media: z.string(),
  initialization: z.string().optional(),
  startNumber: number,
  presentationTimeOffset: number.default(0),
  /** The duration of every segment, instead of a timeline. */
  duration: number.optional(),
  SegmentTimeline: z
    .object({ S: z.array(z.object({ t: number.optional(), d: number, r: number.default(0) })) })
    .optional(),
});
type Template = z.infer<typeof Template>;

const Representation = z.object({
  id: z.string(),
  bandwidth: number,
  codecs: z.string().optional(),
  BaseURL: z.string().optional(),
  SegmentTemplate: Template.optional(),
});

const AdaptationSet = z.object({
  contentType: z.enum(["video", "audio", "text", "image"]),
  codecs: z.string().optional(),
  SegmentTemplate: Template.optional(),
  Representation: z.array(Representation),
});

const Manifest = z.object({
  MPD: z.object({
    type: z.literal("static"),
    mediaPresentationDuration: z.string(),
    Period: z.object({ AdaptationSet: z.array(AdaptationSet) }),
  }),
});

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  parseAttributeValue: false,
  isArray: (name) => ["AdaptationSet", "Representation", "S"].includes(name),
});

export async function readDash(entry: string): Promise<StreamPackage> {
  const { MPD } = Manifest.parse(parser.parse(await textAt(entry), true));
  const seconds = durationOf(MPD.mediaPresentationDuration);
  const sets = MPD.Period.AdaptationSet;
  const of = (...types: string[]) =>
    sets
      .filter(({ contentType }) => types.includes(contentType))
      .flatMap((set) =>
        set.Representation.map((representation) => ({
          ...representation,
          kind: set.contentType,
          template: representation.SegmentTemplate ?? set.SegmentTemplate,
        })),
      );
  const media = of("video", "audio");
  const tracks = media.map(({ id, kind, template }) =>
    trackOf(entry, id, kind === "video" ? "video" : "audio", Template.parse(template)),
  );
  const texts = of("text").map(({ BaseURL }) => [new URL(BaseURL ?? "", entry).href]);
  const sheets = of("image").flatMap(({ id, template }) => sheetsOf(entry, id, Template.parse(template), seconds));
  const files = tracks.flatMap(({ init, segments }) => [
    ...(init === null ? [] : [init]),
    ...segments.map(({ url }) => url),
  ]);
  return {
    entry,
    files: [entry, ...files, ...texts.flat(), ...sheets],
    tracks,
    variants: media.map(({ id, bandwidth, codecs }) => ({ tracks: [id], bandwidth, codecs: codecs ?? "" })),
    subtitles: texts,
    targetSeconds: null,
  };
}

function trackOf(entry: string, id: string, kind: PackageTrack["kind"], template: Template): PackageTrack {
  const { timescale, initialization, presentationTimeOffset, SegmentTimeline } = template;
  const segments: PackageSegment[] = [];
  let time = 0;
  for (const { t, d, r } of SegmentTimeline?.S ?? []) {
    time = t ?? time;
    for (let repeat = 0; repeat <= r; repeat++, time += d) {
      const url = expand(entry, template.media, id, template.startNumber + segments.length);
      segments.push({ url, start: (time - presentationTimeOffset) / timescale, duration: d / timescale });
    }
  }
  const init = initialization === undefined ? null : expand(entry, initialization, id, 0);
  return { id, kind, init, segments, keyframes: [], isEncrypted: false };
}

/** Every sprite sheet that starts before the video's end. */
function sheetsOf(
  entry: string,
  id: string,
  { media, startNumber, duration = 0, timescale }: Template,
  seconds: number,
): string[] {
  const count = Math.ceil((seconds * timescale) / duration);
  return Array.from({ length: count }, (_, at) => expand(entry, media, id, startNumber + at));
}

/** Expands a template (ISO 23009-1 §5.3.9.4.4). */
function expand(entry: string, template: string, id: string, segment: number): string {
  const path = template
    .replaceAll("$RepresentationID$", id)
    .replace(/\$Number(?:%0(\d+)d)?\$/, (_, width = "1") => String(segment).padStart(Number(width), "0"));
  return new URL(path, entry).href;
}

/** Seconds of an xs:duration without days. */
function durationOf(text: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(text) ?? [];
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
