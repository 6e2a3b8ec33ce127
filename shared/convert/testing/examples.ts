// Requests of other services, with every field that the converters know.

export const ZENCODER_JOB = {
  api_key: "hunter2",
  input: "s3+eu-west-1://AKIDIN:hunter%2F2@in-bucket/videos/a.mov",
  pass_through: "42",
  notifications: [
    "https://example.com/hook?token=hunter2",
    "somebody@example.com",
    { url: "https://example.com/2", format: "xml" },
  ],
  outputs: [
    {
      label: "web",
      url: "s3://AKID:hun/ter2@out-bucket/videos/a.mp4",
      format: "mp4",
      video_codec: "h264",
      audio_codec: "aac",
      width: 1280,
      height: 720,
      upscale: true,
      caption_url: "https://example.com/en.scc",
      audio_normalize: true,
      aspect_mode: "crop",
      quality: 4,
      max_video_bitrate: 3000,
      frame_rate: 29.97,
      h264_profile: "high",
      h264_level: 4.1,
      deinterlace: "detect",
      rotate: 90,
      audio_bitrate: 160,
      audio_channels: 2,
      audio_sample_rate: 48_000,
      start_clip: "0:01:02.5",
      clip_length: 30,
      public: true,
      rrs: true,
      notifications: "https://example.com/hook?token=hunter2",
      watermarks: [
        { url: "https://example.com/logo.png", x: 10, y: -10, opacity: 0.5 },
        { url: "https://example.com/2.png" },
      ],
      thumbnails: [
        {
          label: "large",
          number: 5,
          size: "640x360",
          format: "jpg",
          base_url: "s3://out-bucket/thumbs",
          prefix: "large",
          start_at_first_frame: true,
        },
        { interval: 10, width: 320, format: "png", filename: "small-{{number}}" },
        { times: [1, 2.5], height: 100 },
      ],
      speed: 3,
      h264_bframes: 3,
      tuning: "animation",
      skip: { min_size: "1280x720" },
      made_up: 1,
    },
    {
      label: "two pass",
      base_url: "s3://out-bucket/videos",
      filename: "b.mp4",
      size: "640x480",
      video_bitrate: 900,
      bitrate_cap: 1200,
      one_pass: false,
    },
    { label: "audio", format: "mp3", url: "s3://other-bucket/a.mp3", audio_bitrate: 128, skip_video: true },
    {
      label: "silent",
      url: "s3://out-bucket/silent.webm",
      skip_audio: true,
      skip_captions: true,
      video_codec: "vp9",
      frame_rate: 12,
    },
    {
      type: "segmented",
      label: "low",
      url: "s3://out-bucket/hls/low/low.m3u8",
      size: "640x360",
      video_bitrate: 600,
      segment_seconds: 12,
      encryption_method: "aes-128-cbc",
      encryption_key: "00112233445566778899aabbccddeeff",
      encryption_key_url: "https://example.com/key",
    },
    {
      type: "segmented",
      label: "high",
      url: "s3://out-bucket/hls/high/high.m3u8",
      size: "1280x720",
      video_bitrate: 2000,
    },
    {
      type: "playlist",
      label: "master",
      url: "s3://out-bucket/hls/playlist.m3u8",
      streams: [
        { source: "low", path: "low/low.m3u8", bandwidth: 700 },
        { path: "high/high.m3u8" },
        { source: "none" },
      ],
      captions: [{ path: "text/captions.m3u8", language: "de", name: "Deutsch" }, { path: "none.m3u8" }],
    },
    { type: "captions", label: "text", url: "s3://out-bucket/a.vtt" },
    { type: "captions", segmented: true, filename: "captions.m3u8", caption_url: "https://example.com/de.vtt" },
    { type: "captions", url: "s3://out-bucket/a.dfxp", caption_url: "s3://in-bucket/a.scc" },
    { type: "transfer-only", url: "s3://out-bucket/a.mov" },
  ],
};

const H264 = {
  Codec: "H_264",
  H264Settings: {
    RateControlMode: "CBR",
    Bitrate: 4_500_000,
    QualityTuningLevel: "MULTI_PASS_HQ",
    FramerateControl: "SPECIFIED",
    FramerateNumerator: 24_000,
    FramerateDenominator: 1001,
    CodecProfile: "HIGH",
    CodecLevel: "LEVEL_4_1",
    GopSize: 48,
    Softness: 0,
  },
};
const QVBR = {
  Codec: "H_264",
  H264Settings: { RateControlMode: "QVBR", MaxBitrate: 3_000_000, QvbrSettings: { QvbrQualityLevel: 8 } },
};
const AAC = {
  AudioTypeControl: "FOLLOW_INPUT",
  CodecSettings: {
    Codec: "AAC",
    AacSettings: { Bitrate: 96_000, CodingMode: "CODING_MODE_2_0", SampleRate: 48_000, RateControlMode: "CBR" },
  },
};
const MP3 = { CodecSettings: { Codec: "MP3", Mp3Settings: { Bitrate: 192_000, Channels: 2, SampleRate: 44_100 } } };
const S3_SETTINGS = {
  S3Settings: {
    AccessControl: { CannedAcl: "PUBLIC_READ" },
    StorageClass: "STANDARD_IA",
    Encryption: { EncryptionType: "SERVER_SIDE_ENCRYPTION_S3" },
  },
};

export const MEDIACONVERT_JOB = {
  Role: "arn:aws:iam::123456789012:role/MediaConvert",
  Queue: "arn:aws:mediaconvert:eu-west-1:123456789012:queues/Default",
  UserMetadata: { Customer: "Amazon" },
  Priority: 5,
  AccelerationSettings: { Mode: "PREFERRED" },
  Settings: {
    TimecodeConfig: { Source: "ZEROBASED" },
    Inputs: [
      {
        FileInput: "s3://in-bucket/videos/a.mov",
        InputClippings: [{ StartTimecode: "00:00:10:00", EndTimecode: "00:01:10:12" }],
        AudioSelectors: {
          "Audio Selector 1": { DefaultSelection: "DEFAULT" },
          "Audio Selector 2": { Tracks: [2, 3], SelectorType: "TRACK", Offset: -40 },
          "Audio Selector 3": { LanguageCode: "DEU", SelectorType: "LANGUAGE_CODE" },
          "Audio Selector 4": { CustomLanguageCode: "fra", ExternalAudioFileInput: "https://example.com/fr.wav" },
        },
        CaptionSelectors: {
          Embedded: {
            SourceSettings: { SourceType: "EMBEDDED", EmbeddedSourceSettings: { Source608ChannelNumber: 3 } },
          },
          File: {
            LanguageCode: "SPA",
            SourceSettings: {
              SourceType: "SRT",
              FileSourceSettings: {
                SourceFile: "https://example.com/es.srt",
                TimeDelta: 1500,
                TimeDeltaUnits: "MILLISECONDS",
                Convert608To708: "DISABLED",
              },
            },
          },
          Track: { SourceSettings: { SourceType: "IMSC", TrackSourceSettings: { TrackNumber: 2 } } },
          Bucket: { SourceSettings: { SourceType: "SCC", FileSourceSettings: { SourceFile: "s3://in-bucket/a.scc" } } },
        },
        FilterEnable: "AUTO",
      },
      { FileInput: "s3://in-bucket/videos/b.mov" },
    ],
    OutputGroups: [
      {
        Name: "File Group",
        OutputGroupSettings: {
          Type: "FILE_GROUP_SETTINGS",
          FileGroupSettings: { Destination: "s3://out-bucket/files/", DestinationSettings: S3_SETTINGS },
        },
        Outputs: [
          {
            NameModifier: "_hd",
            Extension: "m4v",
            ContainerSettings: { Container: "MP4", Mp4Settings: { MoovPlacement: "PROGRESSIVE_DOWNLOAD" } },
            VideoDescription: {
              Width: 1920,
              Height: 1080,
              ScalingBehavior: "FILL",
              VideoPreprocessors: { Deinterlacer: { Mode: "ADAPTIVE" }, NoiseReducer: { Filter: "BILATERAL" } },
              CodecSettings: H264,
              Sharpness: 50,
            },
            AudioDescriptions: [
              {
                ...AAC,
                AudioNormalizationSettings: {
                  Algorithm: "ITU_BS_1770_3",
                  AlgorithmControl: "CORRECT_AUDIO",
                  TargetLkfs: -24,
                  TruePeakLimiterThreshold: -2,
                  LoudnessLogging: "LOG",
                },
              },
              {
                AudioSourceName: "Audio Selector 2",
                AudioType: 3,
                AudioTypeControl: "USE_CONFIGURED",
                StreamName: 'The "described" track',
                LanguageCode: "ENG",
                LanguageCodeControl: "USE_CONFIGURED",
                CodecSettings: {
                  Codec: "AC3",
                  Ac3Settings: { Bitrate: 384_000, CodingMode: "CODING_MODE_3_2_LFE", SampleRate: 48_000 },
                },
              },
            ],
            CaptionDescriptions: [
              {
                CaptionSelectorName: "File",
                DestinationSettings: {
                  DestinationType: "BURN_IN",
                  BurninDestinationSettings: { FontColor: "YELLOW", OutlineColor: "BLACK", FontSize: 24 },
                },
              },
              { CaptionSelectorName: "Embedded", DestinationSettings: { DestinationType: "SRT" } },
            ],
          },
          {
            NameModifier: "_text",
            ContainerSettings: { Container: "RAW" },
            CaptionDescriptions: [
              { CaptionSelectorName: "Track", DestinationSettings: { DestinationType: "WEBVTT" } },
              { CaptionSelectorName: "Track", DestinationSettings: { DestinationType: "TTML" } },
              { CaptionSelectorName: "Bucket", DestinationSettings: { DestinationType: "SRT" } },
            ],
          },
          { NameModifier: "_audio", ContainerSettings: { Container: "RAW" }, AudioDescriptions: [MP3] },
          {
            NameModifier: "_thumbs",
            ContainerSettings: { Container: "RAW" },
            VideoDescription: {
              Width: 320,
              CodecSettings: {
                Codec: "FRAME_CAPTURE",
                FrameCaptureSettings: { FramerateNumerator: 1, FramerateDenominator: 5, MaxCaptures: 10 },
              },
            },
          },
        ],
      },
      {
        Name: "Apple HLS",
        OutputGroupSettings: {
          Type: "HLS_GROUP_SETTINGS",
          HlsGroupSettings: { Destination: "s3://out-bucket/hls/index", SegmentLength: 10, MinSegmentLength: 0 },
        },
        Outputs: [
          {
            NameModifier: "_high",
            ContainerSettings: { Container: "M3U8", M3u8Settings: { VideoPid: 481 } },
            VideoDescription: { Width: 1280, Height: 720, CodecSettings: QVBR },
            AudioDescriptions: [AAC],
          },
          {
            NameModifier: "_low",
            ContainerSettings: { Container: "M3U8" },
            VideoDescription: { Width: 640, Height: 360, CodecSettings: QVBR },
            AudioDescriptions: [
              AAC,
              { ...AAC, AudioSourceName: "Audio Selector 3" },
              { ...AAC, AudioSourceName: "Audio Selector 4" },
            ],
          },
          {
            NameModifier: "_es",
            ContainerSettings: { Container: "M3U8" },
            CaptionDescriptions: [
              {
                CaptionSelectorName: "File",
                LanguageCode: "SPA",
                LanguageDescription: "Español",
                DestinationSettings: { DestinationType: "WEBVTT" },
              },
              { CaptionSelectorName: "Embedded", DestinationSettings: { DestinationType: "EMBEDDED" } },
            ],
          },
        ],
      },
      {
        Name: "CMAF",
        OutputGroupSettings: {
          Type: "CMAF_GROUP_SETTINGS",
          CmafGroupSettings: { Destination: "s3://out-bucket/cmaf/", SegmentLength: 4, FragmentLength: 2 },
        },
        Outputs: [
          { ContainerSettings: { Container: "CMFC" }, VideoDescription: { Height: 720, CodecSettings: H264 } },
          { ContainerSettings: { Container: "CMFC" }, AudioDescriptions: [AAC] },
        ],
      },
    ],
  },
};

export const COCONUT_V2_JOB = {
  input: { url: "https://example.com/a.mov" },
  storage: { service: "s3", bucket: "my-bucket", credentials: { access_key_id: "AKID", secret_access_key: "hunter2" } },
  outputs: { "mp4:x264_720p": { path: "/a.mp4" }, httpstream: { hls: { path: "/hls" } } },
  notification: { type: "http", url: "https://example.com/hook" },
  api_version: "2021-001",
};
