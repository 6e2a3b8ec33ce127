// Converts jobs of AWS Elemental MediaConvert: as sent, as the console shows them, or only their settings.
import { Draft } from "../draft.ts";
import { formatKey, imageKey } from "../format-key.ts";
import type { Converted, Json } from "../note.ts";
import { Reader } from "../reader.ts";
import { playlistPlace, segmentSeconds, streamVariants } from "../stream-variants.ts";
import { audioParams } from "./audio.ts";
import { captionParams } from "./captions.ts";
import { MEDIACONVERT_LOST } from "./fields.ts";
import { codecSettings, containerOf, frameRateOf, renditionOf } from "./tracks.ts";

export function convertMediaConvert(job: unknown): Converted {
  return readMediaConvert(new Reader(job));
}

/** Converts a job. The reader records the used fields. */
export function readMediaConvert(job: Reader): Converted {
  const draft = new Draft();
  const settings = job.at("Settings").exists ? job.at("Settings") : job;
  const [input, ...others] = settings.at("Inputs").list();
  const url = input?.at("FileInput").text();
  if (input !== undefined && url !== undefined) draft.inputUrl(url, `${input.path}.FileInput`);
  for (const other of others) {
    other.use();
    draft.lost(other.path, "a job has one source");
  }
  const name = baseName(url ?? "output");
  const context = { draft, name, clip: clipOf(draft, input), input: input ?? settings.at("Inputs") };
  for (const group of settings.at("OutputGroups").list()) convertGroup(context, group);
  const priority = job.at("Priority").number();
  if (priority !== undefined && priority !== 0) draft.settings({ priority: Math.min(50, Math.max(-50, priority)) });
  const acceleration = job.at("AccelerationSettings").at("Mode").text() ?? "DISABLED";
  if (acceleration !== "DISABLED") draft.settings({ ultrafast: true });
  return draft.finish(job.lost(MEDIACONVERT_LOST));
}

type Context = {
  readonly draft: Draft;
  /** Name of the source without extension. Names of outputs start with it. */
  readonly name: string;
  readonly clip: Json;
  readonly input: Reader;
};

const baseName = (url: string): string =>
  (url.split(/[?#]/)[0]?.split("/").at(-1) ?? "").replace(/\.[^.]*$/, "") || "output";

/** Returns offset and duration in whole seconds: the length of a timecode's frames depends on the source. */
function clipOf(draft: Draft, input: Reader | undefined): Json {
  const [first, ...others] = input?.at("InputClippings").list() ?? [];
  if (first === undefined) return {};
  for (const other of others) {
    other.use();
    draft.lost(other.path, "an output has one part of the source");
  }
  const start = timecode(first.at("StartTimecode").text());
  const end = timecode(first.at("EndTimecode").text());
  draft.note("changed", first.path, "timecodes are rounded to seconds, and count from the start of the source");
  return {
    ...(start === undefined || start === 0 ? {} : { offset: start }),
    ...(end === undefined || end <= (start ?? 0) ? {} : { duration: end - (start ?? 0) }),
  };
}

const timecode = (text: string | undefined): number | undefined => {
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d):(\d\d)[:;]\d\d$/.exec(text ?? "") ?? [];
  return seconds === undefined ? undefined : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
};

const STREAMS = new Set(["HLS_GROUP_SETTINGS", "DASH_ISO_GROUP_SETTINGS", "CMAF_GROUP_SETTINGS"]);

function convertGroup(context: Context, group: Reader): void {
  const { draft } = context;
  const settings = group.at("OutputGroupSettings");
  const type = settings.at("Type").text() ?? "FILE_GROUP_SETTINGS";
  const options = codecSettings(settings);
  const destination = destinationOf(draft, options);
  const outputs = group.at("Outputs").list();
  const images = outputs.filter((output) => codecOf(output) === "FRAME_CAPTURE");
  for (const output of images) convertImages(context, output, destination);
  const others = outputs.filter((output) => !images.includes(output));
  if (type === "FILE_GROUP_SETTINGS") for (const output of others) convertFile(context, output, destination);
  else if (STREAMS.has(type)) convertStream(context, { group, type, options, outputs: others, destination });
  else draft.lost(group.path, `groups of the type \`${type}\` are not possible; use HLS or DASH`);
}

const codecOf = (output: Reader): string | undefined =>
  output.at("VideoDescription").at("CodecSettings").at("Codec").text();

/** Returns the path of the destination: a folder with a trailing slash, or a prefix of names. */
function destinationOf(draft: Draft, options: Reader): string {
  const url = options.at("Destination").text();
  const s3 = options.at("DestinationSettings").at("S3Settings");
  const acl = s3.at("AccessControl").at("CannedAcl").text();
  const storageClass = s3.at("StorageClass").text();
  if (acl !== undefined) draft.storageOptions({ acl: acl.toLowerCase().replaceAll("_", "-") });
  if (storageClass !== undefined && storageClass !== "OUTPOSTS") draft.storageOptions({ storage_class: storageClass });
  return url === undefined ? "" : draft.outputPath(url.replace(/\$[a-z]+\$/gi, ""), options.path);
}

const pathOf = ({ name }: Context, output: Reader, destination: string, extension: string): string => {
  const base = destination === "" || destination.endsWith("/") ? `${destination}${name}` : destination;
  const modifier = (output.at("NameModifier").text() ?? "").replaceAll(/\$[a-z]+\$/gi, "");
  return `${base}${modifier}.${output.at("Extension").text() ?? extension}`;
};

function convertFile(context: Context, output: Reader, destination: string): void {
  const { draft, clip } = context;
  const [container, extension] = containerOf(output);
  const captions = captionParams([output], { ...context, container });
  for (const { format, params } of captions.files) {
    const path = pathOf(context, output, destination, format).replace(/(\.[^./]*)?$/, `.${format}`);
    const shift = Number(params.shift ?? 0) - Number(clip.offset ?? 0);
    draft.output(format, { path, ...params, ...(shift === 0 ? {} : { shift }) }, output.path);
  }
  if (!hasTracks(output) && captions.files.length > 0) return;
  const rendition = renditionOf(output);
  const lost = (part: string, message: string): void => draft.lost(`${output.path}: ${part}`, message);
  const path = pathOf(context, output, destination, extension);
  if (container === "gif") {
    const { width, height } = rendition.video ?? {};
    draft.output(imageKey("gif", Math.min(width ?? 500, 500), height, lost), { path }, output.path);
    return draft.note("changed", output.path, "an animated image has one scene of at most 5 s");
  }
  const format = formatKey({ container, ...rendition }, lost);
  const audio = audioParams([output], { ...context, container });
  draft.output(format, { path, ...clip, ...filtersOf(draft, output), ...audio, ...captions.params }, output.path);
}

const hasTracks = (output: Reader): boolean => output.any("VideoDescription", "AudioDescriptions").exists;

function filtersOf(draft: Draft, output: Reader): Json {
  const video = output.at("VideoDescription");
  if (!video.exists) return {};
  const scaling = video.at("ScalingBehavior").text() ?? "DEFAULT";
  const fit = scaling === "FILL" ? "crop" : scaling === "STRETCH_TO_OUTPUT" ? "stretch" : null;
  if (/^FIT/.test(scaling)) draft.note("changed", output.path, "video is fitted into the size with bars");
  const deinterlacer = video.at("VideoPreprocessors").at("Deinterlacer");
  const isDeinterlaced = deinterlacer.exists;
  deinterlacer.use();
  return { ...(fit ? { fit } : {}), ...(isDeinterlaced ? { deinterlace: true } : {}) };
}

/** Adds an image output for frames at an interval. */
function convertImages(context: Context, output: Reader, destination: string): void {
  const { draft } = context;
  const video = output.at("VideoDescription");
  const options = codecSettings(video.at("CodecSettings"));
  const fps = frameRateOf(options);
  const interval = fps === undefined || fps <= 0 ? 0 : Math.max(0.1, Number((1 / fps).toFixed(3)));
  const lost = (part: string, message: string): void => draft.lost(`${output.path}: ${part}`, message);
  const format = imageKey("jpg", video.at("Width").number(), video.at("Height").number(), lost);
  output.at("ContainerSettings").at("Container").use();
  const path = pathOf(context, output, destination, "jpg").replace(/(\.[^./]+)$/, ".%07d$1");
  draft.output(format, { path, interval }, output.path);
  draft.note("changed", output.path, "the images of an output are numbered from 1");
}

type StreamGroup = {
  readonly group: Reader;
  readonly type: string;
  readonly options: Reader;
  readonly outputs: readonly Reader[];
  readonly destination: string;
};

function convertStream(context: Context, { group, type, options, outputs, destination }: StreamGroup): void {
  const { draft, name } = context;
  const lost = (part: string, message: string): void => draft.lost(`${group.path}: ${part}`, message);
  const variants = streamVariants(outputs.filter(hasTracks).map(renditionOf), lost);
  for (const output of outputs) {
    output.at("ContainerSettings").at("Container").use();
    output.at("NameModifier").use();
    filtersOf(draft, output);
  }
  const whole = destination === "" || destination.endsWith("/") ? `${destination}${name}` : destination;
  const { folder, playlist_name } = playlistPlace(whole);
  const seconds = options.at("SegmentLength").number();
  const parts = {
    HLS_GROUP_SETTINGS: { hls: { path: folder } },
    DASH_ISO_GROUP_SETTINGS: { dash: { path: folder === "hls" ? "dash" : folder } },
    CMAF_GROUP_SETTINGS: { dash: { path: folder === "hls" ? "cmaf" : folder, hlsfmp4: true } },
  };
  draft.output(
    "httpstream",
    {
      ...parts[type as keyof typeof parts],
      ...(variants.length === 0 ? {} : { variants }),
      playlist_name,
      ...(seconds === undefined ? {} : { segment_duration: segmentSeconds(seconds) }),
      ...audioParams(outputs, { ...context, container: null }),
      ...captionParams(outputs, { ...context, container: null }).params,
    },
    group.path,
  );
  draft.note("changed", group.path, "the playlists of variants and the segments have names of this service");
}
