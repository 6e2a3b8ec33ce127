// Jobs of Amazon Elastic Transcoder, with their pipeline and presets if they are pasted with them.
import { Draft } from "../draft.ts";
import { formatKey, imageKey, ROTATIONS } from "../format-key.ts";
import type { Converted, Json } from "../note.ts";
import { Reader } from "../reader.ts";
import { playlistPlace, segmentSeconds, streamVariants } from "../stream-variants.ts";
import { readPreset } from "./custom-preset.ts";
import { ELASTIC_LOST } from "./fields.ts";
import { type Preset, systemPreset } from "./presets.ts";

type Presets = (output: Reader) => Preset | null;

export function convertElasticTranscoder(job: unknown): Converted {
  return readElasticTranscoder(new Reader(job));
}

/** The same with the reader, which then knows what was used. */
export function readElasticTranscoder(job: Reader): Converted {
  const draft = new Draft();
  placesOf(draft, job);
  const outputs = job.any("Outputs", "Output").list();
  const presets = presetsOf(draft, job);
  const playlists = job.at("Playlists").list();
  const inPlaylists = new Set(playlists.flatMap((playlist) => keysOf(playlist)));
  const clip = clipOf(job.any("Input", "Inputs").list()[0]?.at("TimeSpan"));
  for (const playlist of playlists) convertPlaylist(draft, playlist, outputs, presets);
  for (const output of outputs) {
    const preset = presets(output);
    if (preset === null) continue;
    if (!inPlaylists.has(output.at("Key").text() ?? "")) convertFile(draft, output, preset, clip);
    thumbnailsOf(draft, output, preset);
  }
  return draft.finish(job.lost(ELASTIC_LOST));
}

/** Buckets and topics are those of the pipeline. */
function placesOf(draft: Draft, job: Reader): void {
  const pipeline = job.at("Pipeline");
  const region = /^arn:aws[a-z-]*:elastictranscoder:([a-z0-9-]+):/.exec(pipeline.at("Arn").text() ?? "")?.[1];
  const s3 = (bucket: string | undefined): Json => ({
    service: "s3",
    bucket: bucket ?? "",
    ...(region === undefined ? {} : { region }),
  });
  const [input] = job.any("Input", "Inputs").list();
  const from = pipeline.at("InputBucket").text();
  draft.inputAt({ storage: s3(from), key: input?.at("Key").text() ?? "" }, "Input");
  if (from === undefined) draft.note("todo", "input.bucket", "the pipeline's input bucket");
  const own = pipeline.at("OutputBucket").text() ?? "";
  const to = own === "" ? pipeline.at("ContentConfig").at("Bucket").text() : own;
  draft.storageAt(s3(to), "Pipeline");
  if (to === undefined) draft.note("todo", "storage.bucket", "the pipeline's output bucket");
  const prefix = job.at("OutputKeyPrefix").text() ?? "";
  if (prefix !== "") draft.storageOptions({ path: prefix });
  const storageClass = pipeline.at("ContentConfig").at("StorageClass").text();
  if (storageClass === "ReducedRedundancy") draft.storageOptions({ storage_class: "REDUCED_REDUNDANCY" });
  for (const event of ["Completed", "Error"]) {
    const topic = pipeline.at("Notifications").at(event);
    const arn = topic.text() ?? "";
    if (arn !== "") draft.notifyTopic(arn, topic.path);
  }
}

function presetsOf(draft: Draft, job: Reader): Presets {
  const own = new Map(
    job
      .at("Presets")
      .list()
      .map((preset) => [preset.at("Id").text(), readPreset(preset)]),
  );
  return (output) => {
    const id = output.at("PresetId").text();
    const preset = own.get(id) ?? systemPreset(id ?? "");
    if (preset !== undefined) return preset;
    const advice = "paste it in `Presets` (`aws elastictranscoder read-preset`)";
    draft.lost(`${output.path}.PresetId`, `is no system preset that the converter knows: ${advice}`);
    return null;
  };
}

const keysOf = (playlist: Reader): string[] =>
  playlist
    .at("OutputKeys")
    .list()
    .flatMap((key) => key.text() ?? []);

/** Seconds of `HH:mm:ss.SSS` or of a number. */
function seconds(value: Reader): number | undefined {
  const parts = value.text()?.split(":").map(Number) ?? [];
  const sum = parts.reduce((total, part) => total * 60 + part, 0);
  return parts.length === 0 || !Number.isFinite(sum) || sum <= 0 ? undefined : sum;
}

function clipOf(span: Reader | undefined): Json {
  const offset = span && seconds(span.at("StartTime"));
  const duration = span && seconds(span.at("Duration"));
  return { ...(offset === undefined ? {} : { offset }), ...(duration === undefined ? {} : { duration }) };
}

const CONTAINERS: Readonly<Record<string, string>> = { ts: "mpegts", fmp4: "mp4", mpg: "mpegts", oga: "ogg" };

function convertFile(draft: Draft, output: Reader, preset: Preset, clip: Json): void {
  const lost = (part: string, message: string): void => draft.lost(`${output.path}: ${part}`, message);
  const container = Object.hasOwn(CONTAINERS, preset.container)
    ? (CONTAINERS[preset.container] ?? preset.container)
    : preset.container;
  const sized = preset.fit === undefined ? { ...preset.video, width: undefined } : preset.video;
  if (preset.video?.width !== undefined && preset.fit === undefined) {
    draft.note("changed", output.path, "the height is that of the preset, without bars: wide sources get wider");
  }
  const format = formatKey({ container, audio: preset.audio, video: preset.video && { ...sized } }, lost);
  const [part] = output.at("Composition").list();
  const rotate = output.at("Rotate").text() ?? "";
  const path = output.at("Key").text() ?? `output.${container}`;
  draft.output(
    format,
    {
      path: /\.[^./]+$/.test(path) ? path : `${path}.${preset.container}`,
      ...clip,
      ...clipOf(part?.at("TimeSpan")),
      ...(preset.fit === "crop" ? { fit: "crop" } : {}),
      ...(Object.hasOwn(ROTATIONS, rotate) && preset.video !== null ? ROTATIONS[rotate] : {}),
    },
    output.path,
  );
}

function convertPlaylist(draft: Draft, playlist: Reader, outputs: readonly Reader[], presets: Presets): void {
  const keys = keysOf(playlist);
  playlist.at("OutputKeys").use();
  const members = outputs.filter((output) => keys.includes(output.at("Key").text() ?? ""));
  const lost = (part: string, message: string): void => draft.lost(`${playlist.path}: ${part}`, message);
  const variants = streamVariants(
    members.flatMap((member) => presets(member) ?? []),
    lost,
  );
  const kind = playlist.at("Format").text() ?? "HLSv3";
  if (kind === "Smooth") return draft.lost(playlist.path, "Smooth Streaming is not supported; use `dash`");
  const { folder, playlist_name } = playlistPlace(playlist.at("Name").text() ?? "");
  const durations = members.flatMap((member) => member.at("SegmentDuration").number() ?? []);
  draft.output(
    "httpstream",
    {
      ...(kind === "MPEG-DASH"
        ? { dash: { path: folder === "hls" ? "dash" : folder } }
        : { hls: { path: folder, ...(kind === "HLSv3" ? { version: 3 } : {}) } }),
      ...(variants.length === 0 ? {} : { variants }),
      playlist_name,
      ...(durations[0] === undefined ? {} : { segment_duration: segmentSeconds(durations[0]) }),
    },
    playlist.path,
  );
  draft.note("changed", playlist.path, "the playlists of variants and the segments have names of this service");
}

function thumbnailsOf(draft: Draft, output: Reader, { thumbnails }: Preset): void {
  const pattern = output.at("ThumbnailPattern").text() ?? "";
  if (pattern === "" || thumbnails === undefined) return;
  const { format, interval, width, height } = thumbnails;
  const lost = (part: string, message: string): void => draft.lost(`${output.path}: ${part}`, message);
  const named = pattern.replaceAll("{resolution}", "images").replaceAll("{count}", "%05d");
  const path = `${/%\d*d/.test(named) ? named : `${named}-%05d`}.${format}`;
  draft.output(imageKey(format, width, height, lost), { path, interval }, output.path);
}
