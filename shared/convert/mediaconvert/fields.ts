// Fields of MediaConvert jobs and their counterparts.
import { type FieldRow, PLANNED } from "../note.ts";

const OUTPUT = "Settings.OutputGroups[].Outputs[]";
const VIDEO = `${OUTPUT}.VideoDescription`;
const AUDIO = `${OUTPUT}.AudioDescriptions[]`;
const NORMALIZATION = `${AUDIO}.AudioNormalizationSettings`;
const GROUP = "Settings.OutputGroups[].OutputGroupSettings";

const SELECTOR = "Settings.Inputs[].AudioSelectors.*";
const CAPTIONS = "Settings.Inputs[].CaptionSelectors.*";
const CAPTION = `${OUTPUT}.CaptionDescriptions[]`;
const BURN = `${CAPTION}.DestinationSettings.BurninDestinationSettings`;

const into = (becomes: string, parent: string, ...names: readonly string[]): FieldRow[] =>
  names.map((name) => ({ field: `${parent}.${name}`, becomes }));

const TRACKS: readonly FieldRow[] = [
  ...into("`from` of an entry of `audio`: a number, or a list that merges tracks", SELECTOR, "Tracks"),
  ...into("`from` of an entry of `audio`, without tracks", SELECTOR, "LanguageCode", "CustomLanguageCode"),
  ...into("the default track, if the selector names none", SELECTOR, "DefaultSelection"),
  ...into("`url` of an entry of `audio`, if it is an http(s) URL", SELECTOR, "ExternalAudioFileInput"),
  ...into("`offset` of an entry of `audio`, in seconds", SELECTOR, "Offset"),
  ...into("an entry of `audio`", AUDIO, "AudioSourceName"),
  ...into("`name` of an entry of `audio`", AUDIO, "StreamName"),
  ...into("`language` of an entry of `audio`, for USE_CONFIGURED", AUDIO, "LanguageCode", "LanguageCodeControl"),
  ...into("`role` of an entry of `audio`: `clear` for 2, `description` for 3", AUDIO, "AudioType"),
  { field: `${AUDIO}.RemixSettings`, why: "use `map` of an entry of `audio`: factors instead of dB" },
  ...into("`loudness`: `measure` for MEASURE_ONLY", NORMALIZATION, "AlgorithmControl"),
  ...into("`loudness`: -24 or -23 LUFS without a target", NORMALIZATION, "Algorithm", "TargetLkfs"),
  ...into("`true_peak` of `loudness`", NORMALIZATION, "TruePeakLimiterThreshold"),
  ...into("`url`, or `from`: `cc1` to `cc4` for EMBEDDED", `${CAPTIONS}.SourceSettings`, "SourceType"),
  ...into("`from`: `cc1` to `cc4`", `${CAPTIONS}.SourceSettings.EmbeddedSourceSettings`, "Source608ChannelNumber"),
  ...into("`from`: a number", `${CAPTIONS}.SourceSettings.TrackSourceSettings`, "TrackNumber"),
  ...into("`url`, if it is an http(s) URL", `${CAPTIONS}.SourceSettings.FileSourceSettings`, "SourceFile"),
  ...into("`shift`, in seconds", `${CAPTIONS}.SourceSettings.FileSourceSettings`, "TimeDelta", "TimeDeltaUnits"),
  ...into("`subtitles` of a stream, `burn`, or an output `vtt` or `srt`", CAPTION, "CaptionSelectorName"),
  ...into("`subtitles`, `burn`, `vtt` or `srt`", `${CAPTION}.DestinationSettings`, "DestinationType"),
  ...into("`language` of an entry of `subtitles`", CAPTIONS, "LanguageCode"),
  ...into("`language` of an entry of `subtitles`", CAPTION, "LanguageCode"),
  ...into("`name` of an entry of `subtitles`", CAPTION, "LanguageDescription"),
  ...into("`color` and `outline_color` of `burn`", BURN, "FontColor", "OutlineColor"),
  { field: `${BURN}.*`, why: "`size`, `outline` and `margin` of `burn` are percentages of the frame's height" },
  { field: `${CAPTION}.DestinationSettings.*`, why: "text files and playlists have fixed settings" },
  { field: `${NORMALIZATION}.*`, why: "the metadata of the output has the loudness" },
];

const JOB: readonly FieldRow[] = [
  { field: "Settings.Inputs[].FileInput", becomes: "`input`: a bucket or URL; the first input" },
  { field: "Settings.Inputs[].InputClippings[].StartTimecode", becomes: "`offset` of each output, in whole seconds" },
  { field: "Settings.Inputs[].InputClippings[].EndTimecode", becomes: "`duration` of each output, in whole seconds" },
  { field: "Priority", becomes: "`settings.priority`" },
  { field: "AccelerationSettings.Mode", becomes: "`settings.ultrafast`, unless it is `DISABLED`" },
  { field: "Role", why: "put keys of the buckets into `credentials`" },
  { field: "Queue", why: "`settings.queue` is the pool of nodes" },
  { field: "UserMetadata", why: "use `tags`: the job and its notifications have them" },
  { field: "StatusUpdateInterval", why: "follow the job, or use `notification.events`" },
  { field: "Tags", why: "use `tags`, by which usage is counted" },
  { field: "JobTemplate", why: "paste its settings, and store the result as a template" },
  { field: "HopDestinations", why: "jobs do not change their queue" },
  { field: "ClientRequestToken", why: "use the header `Idempotency-Key`" },
  ...["BillingTagsSource", "SimulateReservedQueue", "JobEngineVersion"].map((field) => ({
    field,
    why: "belongs to the old service",
  })),
  { field: "Settings.TimecodeConfig", why: "time starts at 0" },
  { field: "Settings.AdAvailOffset", why: "ad markers are not supported" },
  { field: "Settings.*", why: "is not possible" },
  { field: `${SELECTOR}.*`, why: "a track is chosen by its number or its language" },
  { field: "Settings.Inputs[].AudioSelectorGroups", why: "name each selector in a description" },
  { field: `${CAPTIONS}.SourceSettings.*.*`, why: "text is read as it is" },
  { field: "Settings.Inputs[].ImageInserter", why: "add `watermark` with the URL of the image" },
  { field: "Settings.Inputs[].*", why: "the source is probed, and read as it is" },
];

const GROUPS: readonly FieldRow[] = [
  { field: `${GROUP}.Type`, becomes: "`FILE_GROUP_SETTINGS`: files; HLS, DASH, CMAF: an `httpstream`" },
  { field: `${GROUP}.*.Destination`, becomes: "`storage` and `path`" },
  { field: `${GROUP}.*.SegmentLength`, becomes: "`segment_duration`, 2 to 10 s" },
  { field: `${GROUP}.*.DestinationSettings.S3Settings.AccessControl.CannedAcl`, becomes: "`storage.acl`" },
  { field: `${GROUP}.*.DestinationSettings.S3Settings.StorageClass`, becomes: "`storage.storage_class`" },
  { field: `${GROUP}.*.DestinationSettings.S3Settings.Encryption`, why: "use the encryption of the bucket" },
  { field: `${GROUP}.*.Encryption`, why: "add `encryption` with the URL of your key; DRM is not supported" },
  { field: `${GROUP}.*.*`, why: "packages have fixed settings (streams.md)" },
  { field: "Settings.OutputGroups[].Name", why: "outputs have a `key`" },
  { field: "Settings.OutputGroups[].CustomName", why: "outputs have a `key`" },
  { field: "Settings.OutputGroups[].AutomatedEncodingSettings", why: "without `variants` there is a default ladder" },
];

const OUTPUTS: readonly FieldRow[] = [
  { field: `${OUTPUT}.NameModifier`, becomes: "`path`" },
  { field: `${OUTPUT}.Extension`, becomes: "`path`" },
  { field: `${OUTPUT}.ContainerSettings.Container`, becomes: "the container of the format" },
  { field: `${VIDEO}.Width`, becomes: "the size of the format" },
  { field: `${VIDEO}.Height`, becomes: "the size of the format" },
  {
    field: `${VIDEO}.ScalingBehavior`,
    becomes: "`fit`: `crop` for FILL, `stretch` for STRETCH_TO_OUTPUT; bars by default",
  },
  { field: `${VIDEO}.CodecSettings.Codec`, becomes: "the video codec; `FRAME_CAPTURE`: an image output" },
  { field: `${VIDEO}.CodecSettings.*.Bitrate`, becomes: "the bitrate of the format" },
  { field: `${VIDEO}.CodecSettings.*.MaxBitrate`, becomes: "`maxrate` of the format" },
  { field: `${VIDEO}.CodecSettings.*.RateControlMode`, becomes: "`quality` for QVBR, else a bitrate" },
  { field: `${VIDEO}.CodecSettings.*.QvbrSettings.QvbrQualityLevel`, becomes: "`quality`: half of it" },
  { field: `${VIDEO}.CodecSettings.*.QualityTuningLevel`, becomes: "`2pass` of the format for MULTI_PASS_HQ" },
  { field: `${VIDEO}.CodecSettings.*.FramerateControl`, becomes: "the frame rate of the format" },
  { field: `${VIDEO}.CodecSettings.*.FramerateNumerator`, becomes: "the frame rate of the format, or `interval`" },
  { field: `${VIDEO}.CodecSettings.*.FramerateDenominator`, becomes: "the frame rate of the format, or `interval`" },
  { field: `${VIDEO}.CodecSettings.*.CodecProfile`, becomes: "`vprofile` of the format" },
  { field: `${VIDEO}.CodecSettings.*.CodecLevel`, becomes: "`level` of the format" },
  { field: `${VIDEO}.VideoPreprocessors.Deinterlacer`, becomes: "`deinterlace`" },
  { field: `${AUDIO}.CodecSettings.Codec`, becomes: "the audio codec of the format" },
  { field: `${AUDIO}.CodecSettings.*.Bitrate`, becomes: "the audio bitrate of the format" },
  { field: `${AUDIO}.CodecSettings.*.SampleRate`, becomes: "the sample rate of the format" },
  { field: `${AUDIO}.CodecSettings.*.CodingMode`, becomes: "`mono`, `stereo` or `multi` of the format" },
  { field: `${AUDIO}.CodecSettings.*.Channels`, becomes: "`mono`, `stereo` or `multi` of the format" },
  { field: `${OUTPUT}.Preset`, why: "paste the settings of the preset" },
  { field: `${OUTPUT}.ContainerSettings.*`, why: "the muxer's settings follow from the format" },
  { field: `${OUTPUT}.OutputSettings`, why: "playlists are made from measured values" },
  { field: `${VIDEO}.Crop`, why: "video is fitted or cropped to the size only" },
  { field: `${VIDEO}.VideoPreprocessors.ImageInserter`, why: "add `watermark` with the URL of the image" },
  { field: `${VIDEO}.VideoPreprocessors.*`, why: "is not possible" },
  { field: `${VIDEO}.CodecSettings.*.*`, why: PLANNED },
  { field: `${VIDEO}.*`, why: PLANNED },
  { field: `${AUDIO}.CodecSettings.*.*`, why: PLANNED },
  { field: `${AUDIO}.*`, why: PLANNED },
];

export const MEDIACONVERT_FIELDS: readonly FieldRow[] = [...JOB, ...TRACKS, ...GROUPS, ...OUTPUTS];

const RANK = (field: string): number => field.split("*").length;

/** Lost fields, also for settings without a job around them. A rule with fewer wildcards has priority. */
export const MEDIACONVERT_LOST: readonly FieldRow[] = [
  ...MEDIACONVERT_FIELDS,
  ...MEDIACONVERT_FIELDS.flatMap((row) =>
    row.field.startsWith("Settings.") && row.field !== "Settings.*"
      ? [{ ...row, field: row.field.slice("Settings.".length) }]
      : [],
  ),
].toSorted((a, b) => RANK(a.field) - RANK(b.field));
