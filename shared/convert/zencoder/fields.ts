// Fields of Zencoder jobs (API v2) and their counterparts.
import { type FieldRow, PLANNED } from "../note.ts";

const WHOLE_FILE = "is not possible";

const JOB: readonly FieldRow[] = [
  { field: "input", becomes: "`input`: a URL, or a bucket with `key`" },
  { field: "notifications[]", becomes: "`notification.url`; the first URL, and no e-mail" },
  { field: "notifications[].url", becomes: "`notification.url`" },
  { field: "api_key", why: "requests are authenticated by an API key of this service" },
  { field: "test", why: "use a dry run, or an output with `duration`" },
  { field: "mock", why: "use a dry run" },
  { field: "region", why: "`settings.queue` and `settings.require` choose the nodes" },
  { field: "pass_through", why: "use `tags`: the job and its notifications have them" },
  { field: "download_connections", why: "nodes decide how they read a source" },
  { field: "private", why: "jobs are private" },
  { field: "grouping", why: "use `tags`: the job and its notifications have them" },
  { field: "credentials", why: "put the keys into `storage.credentials`" },
  { field: "live_stream", why: "live sources are not supported" },
  { field: "notifications[].format", why: "notifications are JSON" },
  { field: "notifications[].headers", why: "requests have the headers of Standard Webhooks" },
  { field: "notifications[].event", why: "`notification.events` adds the events of outputs" },
];

const FILE: readonly FieldRow[] = [
  { field: "outputs[].url", becomes: "`storage` and `path`" },
  { field: "outputs[].base_url", becomes: "`storage` and `path`" },
  { field: "outputs[].filename", becomes: "`path`" },
  { field: "outputs[].label", becomes: "`key`" },
  { field: "outputs[].type", becomes: "`segmented` and `playlist`: an `httpstream`" },
  { field: "outputs[].format", becomes: "the container of the format" },
  { field: "outputs[].video_codec", becomes: "the video codec of the format" },
  { field: "outputs[].audio_codec", becomes: "the audio codec of the format" },
  { field: "outputs[].size", becomes: "the size of the format" },
  { field: "outputs[].width", becomes: "the size of the format" },
  { field: "outputs[].height", becomes: "the size of the format" },
  { field: "outputs[].upscale", becomes: "outputs are enlarged; `if` avoids that" },
  { field: "outputs[].aspect_mode", becomes: "`fit`: `crop` or `stretch`, or `pad` by default" },
  { field: "outputs[].quality", becomes: "`quality` of the format" },
  { field: "outputs[].video_bitrate", becomes: "the bitrate of the format" },
  { field: "outputs[].bitrate_cap", becomes: "`maxrate` of the format" },
  { field: "outputs[].max_video_bitrate", becomes: "`maxrate` of the format" },
  { field: "outputs[].frame_rate", becomes: "the frame rate of the format" },
  { field: "outputs[].one_pass", becomes: "`2pass` of the format, if it is false and there is a bitrate" },
  { field: "outputs[].h264_profile", becomes: "`vprofile` of the format" },
  { field: "outputs[].h264_level", becomes: "`level` of the format" },
  { field: "outputs[].deinterlace", becomes: "`deinterlace`" },
  { field: "outputs[].skip_captions", becomes: "`captions`: `drop`" },
  { field: "outputs[].rotate", becomes: "`transpose`, or `vflip` and `hflip`" },
  { field: "outputs[].audio_bitrate", becomes: "the audio bitrate of the format" },
  { field: "outputs[].audio_channels", becomes: "`mono`, `stereo` or `multi` of the format" },
  { field: "outputs[].audio_sample_rate", becomes: "the sample rate of the format" },
  { field: "outputs[].skip_video", becomes: "a format without video" },
  { field: "outputs[].skip_audio", becomes: "a format without audio" },
  { field: "outputs[].start_clip", becomes: "`offset`" },
  { field: "outputs[].clip_length", becomes: "`duration`" },
  { field: "outputs[].public", becomes: "`storage.acl`: `public-read`, for all outputs" },
  { field: "outputs[].rrs", becomes: "`storage.storage_class`, for all outputs" },
  { field: "outputs[].notifications", becomes: "`notification` with `events`" },
  { field: "outputs[].watermarks[].url", becomes: "`watermark.url`; the first watermark" },
  { field: "outputs[].watermarks[].x", becomes: "`watermark.position`: the nearest corner" },
  { field: "outputs[].watermarks[].y", becomes: "`watermark.position`: the nearest corner" },
];

const THUMBNAILS: readonly FieldRow[] = [
  { field: "outputs[].thumbnails[].number", becomes: "an image output with `number`" },
  { field: "outputs[].thumbnails[].interval", becomes: "an image output with `interval`" },
  { field: "outputs[].thumbnails[].times", becomes: "an image output with `offsets`" },
  { field: "outputs[].thumbnails[].size", becomes: "the size of its format" },
  { field: "outputs[].thumbnails[].width", becomes: "the size of its format" },
  { field: "outputs[].thumbnails[].height", becomes: "the size of its format" },
  { field: "outputs[].thumbnails[].format", becomes: "its format: `png` or `jpg`" },
  { field: "outputs[].thumbnails[].base_url", becomes: "its `path`" },
  { field: "outputs[].thumbnails[].prefix", becomes: "its `path`" },
  { field: "outputs[].thumbnails[].filename", becomes: "its `path`" },
  { field: "outputs[].thumbnails[].label", becomes: "its `key`" },
];

const STREAM: readonly FieldRow[] = [
  { field: "outputs[].streams[].source", becomes: "a variant of the `httpstream`" },
  { field: "outputs[].streams[].path", becomes: "a variant of the `httpstream`" },
  { field: "outputs[].segment_seconds", becomes: "`segment_duration`, 2 to 10 s" },
  { field: "outputs[].caption_url", becomes: "`subtitles`; in outputs of the type `captions` a file `vtt` or `srt`" },
  { field: "outputs[].segmented", becomes: "outputs of the type `captions`: `subtitles` of the `httpstream`" },
  { field: "outputs[].captions[].path", becomes: "outputs of the type `captions`: `subtitles` of the `httpstream`" },
  { field: "outputs[].captions[].language", becomes: "`language` of an entry of `subtitles`" },
  { field: "outputs[].captions[].name", becomes: "`name` of an entry of `subtitles`" },
  { field: "outputs[].encryption_key", becomes: "`encryption.key`" },
  { field: "outputs[].encryption_key_url", becomes: "`encryption.key_uri`" },
  { field: "outputs[].encryption_method", becomes: "`encryption`: AES-128 of MPEG-TS segments" },
  { field: "outputs[].streams.*", why: "playlists contain measured values" },
];

const without = (why: string, ...names: readonly string[]): FieldRow[] =>
  names.map((name) => ({ field: `outputs[].${name}`, why }));

const LOST: readonly FieldRow[] = [
  ...without(
    PLANNED,
    ...["speed", "buffer_size", "keyframe_interval", "keyframe_rate", "fixed_keyframe_interval", "h264_bframes"],
    ...["forced_keyframe_interval", "forced_keyframe_rate", "h264_reference_frames", "tuning", "crf", "decimate"],
    ...[
      "max_frame_rate",
      "audio_quality",
      "max_audio_sample_rate",
      "vp6_temporal_down_watermark",
      "audio_constant_bitrate",
    ],
    ...["constant_bitrate", "parallel_upload_limit", "strict", "device_profile", "hint", "audio_lc_percentage"],
  ),
  ...without("use `loudness`, which has a target in LUFS", "audio_normalize", "audio_pre_normalize"),
  ...without("use `audio`, a list of tracks", "audio_tracks"),
  ...without(
    WHOLE_FILE,
    "autolevel",
    "denoise",
    "deblock",
    "sharpen",
    "drm",
    "composition",
    "copy_timestamp",
    "secondary_url",
    "alternates",
  ),
  ...without("use `if`, such as `{{ input.width }} >= 1280`", "skip"),
  ...without("objects have only the headers of `storage`", "headers"),
  ...without("captions of the input are read; speech is not transcribed", "caption_from_audio_transcription"),
  ...without("put the keys into `storage.credentials`", "credentials"),
  ...without("use `storage.acl`", "access_control"),
  ...without("each output is made from the source of the job", "source"),
  ...without("the size and the ETag of the object", "generate_md5_checksum"),
  ...without("packages have fixed names (streams.md)", "package_filename", "package_format", "hls_optimized_ts"),
  ...without("keys do not change in a stream", "encryption_key_rotation_period", "encryption_iv"),
  ...["width", "height", "margin", "opacity", "origin"].map((name) => ({
    field: `outputs[].watermarks[].${name}`,
    why: "the overlay image has its own size, in a corner",
  })),
  { field: "outputs[].watermarks.*", why: "an output has one watermark" },
  ...["start_at_first_frame", "interval_in_frames", "aspect_mode", "public", "rrs", "headers", "credentials"].map(
    (name) => ({ field: `outputs[].thumbnails[].${name}`, why: "images have no such setting" }),
  ),
];

export const ZENCODER_FIELDS: readonly FieldRow[] = [...JOB, ...FILE, ...THUMBNAILS, ...STREAM, ...LOST];

/** Lost fields, also for jobs with `output`, an alias of `outputs`. */
export const ZENCODER_LOST: readonly FieldRow[] = [
  ...ZENCODER_FIELDS,
  ...ZENCODER_FIELDS.map((row) => ({ ...row, field: row.field.replace(/^outputs\b/, "output") })),
];
