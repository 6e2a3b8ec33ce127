// The fields of Elastic Transcoder's jobs, pipelines and presets, and what becomes of them.
import { type FieldRow, PLANNED } from "../note.ts";

const JOB: readonly FieldRow[] = [
  { field: "Input.Key", becomes: "`input.key`" },
  { field: "Inputs[].Key", becomes: "`input.key`; the first one" },
  { field: "Input.TimeSpan.StartTime", becomes: "`offset` of each output" },
  { field: "Input.TimeSpan.Duration", becomes: "`duration` of each output" },
  { field: "OutputKeyPrefix", becomes: "`storage.path`" },
  { field: "Outputs[].Key", becomes: "`path`" },
  { field: "Outputs[].PresetId", becomes: "the format: of a system preset, or of one in `Presets`" },
  { field: "Outputs[].SegmentDuration", becomes: "`segment_duration` of an `httpstream`, 2 to 10 s" },
  { field: "Outputs[].Rotate", becomes: "`transpose`, or `vflip` and `hflip`" },
  { field: "Outputs[].ThumbnailPattern", becomes: "an image output with `interval`" },
  { field: "Outputs[].Composition[].TimeSpan.StartTime", becomes: "`offset`" },
  { field: "Outputs[].Composition[].TimeSpan.Duration", becomes: "`duration`" },
  { field: "Playlists[].Format", becomes: "`hls` (HLSv3: `version` 3; HLSv4) or `dash` of an `httpstream`" },
  { field: "Playlists[].Name", becomes: "`playlist_name` and the folder" },
  { field: "Playlists[].OutputKeys", becomes: "`variants`" },
  { field: "Playlists[].HlsContentProtection", why: "add `encryption` with the URL of your key" },
  { field: "Playlists[].PlayReadyDrm", why: "DRM is not supported" },
  { field: "PipelineId", why: "paste the pipeline as `Pipeline` (`aws elastictranscoder read-pipeline`)" },
  { field: "UserMetadata", why: "put it into `notification.params`" },
  ...["Input", "Inputs[]"].flatMap((input) =>
    ["FrameRate", "Resolution", "AspectRatio", "Interlaced", "Container", "DetectedProperties"].map((name) => ({
      field: `${input}.${name}`,
      why: "the source is probed",
    })),
  ),
  { field: "Input.Encryption", why: "encrypted sources are not supported" },
  { field: "Input.InputCaptions", why: "use `subtitles` of an `httpstream`" },
  { field: "Inputs[].*", why: "a job has one source" },
  { field: "Outputs[].Captions", why: "use `subtitles` of an `httpstream`" },
  { field: "Outputs[].Watermarks", why: "add `watermark` with the URL of the image" },
  { field: "Outputs[].AlbumArt", why: "files get no cover" },
  { field: "Outputs[].Encryption", why: "use the encryption of the bucket" },
  { field: "Outputs[].ThumbnailEncryption", why: "use the encryption of the bucket" },
];

const PIPELINE: readonly FieldRow[] = [
  { field: "Pipeline.InputBucket", becomes: "`input.bucket`" },
  { field: "Pipeline.OutputBucket", becomes: "`storage.bucket`" },
  { field: "Pipeline.ContentConfig.Bucket", becomes: "`storage.bucket`" },
  { field: "Pipeline.ContentConfig.StorageClass", becomes: "`storage.storage_class`" },
  { field: "Pipeline.Arn", becomes: "the region of the buckets" },
  { field: "Pipeline.Notifications.Completed", becomes: "`notification` by SNS" },
  { field: "Pipeline.Notifications.Error", becomes: "`notification` by SNS, the same topic" },
  { field: "Pipeline.Notifications.Progressing", why: "follow the job, or use `notification.events`" },
  { field: "Pipeline.Notifications.Warning", why: "the job has a note for what is unusual" },
  { field: "Pipeline.ThumbnailConfig", why: "a job has one storage" },
  { field: "Pipeline.ContentConfig.Permissions", why: "use `storage.acl`" },
  ...["Id", "Name", "Status", "Role", "AwsKmsKeyArn"].map((name) => ({
    field: `Pipeline.${name}`,
    why: "there are no pipelines",
  })),
];

const PRESET: readonly FieldRow[] = [
  { field: "Presets[].Id", becomes: "which outputs have the format" },
  { field: "Presets[].Container", becomes: "the container of the format" },
  { field: "Presets[].Video.Codec", becomes: "the video codec of the format" },
  { field: "Presets[].Video.MaxWidth", becomes: "the size of the format" },
  { field: "Presets[].Video.MaxHeight", becomes: "the size of the format" },
  { field: "Presets[].Video.Resolution", becomes: "the size of the format" },
  { field: "Presets[].Video.BitRate", becomes: "the bitrate of the format" },
  { field: "Presets[].Video.FrameRate", becomes: "the frame rate of the format" },
  { field: "Presets[].Video.CodecOptions.Profile", becomes: "`vprofile` of the format" },
  { field: "Presets[].Video.CodecOptions.Level", becomes: "`level` of the format" },
  { field: "Presets[].Video.CodecOptions.MaxBitRate", becomes: "`maxrate` of the format" },
  { field: "Presets[].Video.SizingPolicy", becomes: "`fit`: `crop` for Fill and ShrinkToFill" },
  { field: "Presets[].Video.PaddingPolicy", becomes: "a size with both sides, with bars" },
  { field: "Presets[].Audio.Codec", becomes: "the audio codec of the format" },
  { field: "Presets[].Audio.BitRate", becomes: "the audio bitrate of the format" },
  { field: "Presets[].Audio.SampleRate", becomes: "the sample rate of the format" },
  { field: "Presets[].Audio.Channels", becomes: "`mono`, `stereo` or `multi` of the format" },
  { field: "Presets[].Thumbnails.Format", becomes: "the format of the images" },
  { field: "Presets[].Thumbnails.Interval", becomes: "`interval` of the images" },
  { field: "Presets[].Thumbnails.MaxWidth", becomes: "the size of the images" },
  { field: "Presets[].Thumbnails.MaxHeight", becomes: "the size of the images" },
  { field: "Presets[].Video.Watermarks", why: "add `watermark` with the URL of the image" },
  { field: "Presets[].Video.*", why: PLANNED },
  { field: "Presets[].Video.CodecOptions.*", why: PLANNED },
  { field: "Presets[].Audio.*", why: PLANNED },
  { field: "Presets[].Thumbnails.*", why: "images keep their aspect ratio" },
  ...["Name", "Description", "Type", "Arn"].map((name) => ({
    field: `Presets[].${name}`,
    why: "formats have no name",
  })),
];

export const ELASTIC_FIELDS: readonly FieldRow[] = [...JOB, ...PIPELINE, ...PRESET];

/** The same for `Output`, which jobs with one output have. */
export const ELASTIC_LOST: readonly FieldRow[] = [
  ...ELASTIC_FIELDS,
  ...ELASTIC_FIELDS.map((row) => ({ ...row, field: row.field.replace(/^Outputs\[\]/, "Output") })),
];
