// The types of the API. Written by `npm run client:types` from the schemas of the API; do not edit.

export type VideoContainer =
  | "mp4"
  | "webm"
  | "mpegts"
  | "mov"
  | "mkv"
  | "avi"
  | "asf"
  | "flv"
  | "3gp"
  | "ogv"
  | "divx"
  | "xvid"
  | "wmv"
  | "hls"
  | "flash"
  | "theora";

export type AudioContainer = "ogg" | "mp3" | "aac" | "wav" | "flac" | "m4a" | "opus";

export type ImageContainer = "jpg" | "png" | "webp" | "gif" | "webp_anim" | "avif" | "jpeg";

export type VideoCodec =
  | "h264"
  | "hevc"
  | "vp8"
  | "vp9"
  | "av1"
  | "theora"
  | "mpeg4"
  | "mpeg2video"
  | "mjpeg"
  | "prores"
  | "prores-ks"
  | "dnxhd"
  | "flv"
  | "h263"
  | "wmv2"
  | "copy";

export type AudioCodec =
  | "aac"
  | "ac3"
  | "mp2"
  | "mp3"
  | "vorbis"
  | "opus"
  | "flac"
  | "pcm-s16le"
  | "pcm-u8"
  | "pcm-alaw"
  | "amr-nb"
  | "wmav2"
  | "copy";

export type Channels = "mono" | "stereo" | "multi";

export type SampleRate = 8000 | 11025 | 16000 | 22050 | 24000 | 32000 | 44100 | 48000;

export type FrameRate = "0" | "15" | "23.98" | "24" | "25" | "29.97" | "30" | "50" | "60";

export type Preset = "240p" | "360p" | "480p" | "540p" | "576p" | "720p" | "1080p" | "1440p" | "2160p";

export type PixelFormat = "yuv420p" | "yuv422p" | "yuva444p10le" | "yuv420p10le";

export type Profile = "baseline" | "main" | "high" | "high10" | "high422" | "high444";

export type ErrorCode =
  | "json_not_valid"
  | "request_not_valid"
  | "input_not_valid"
  | "input_url_not_valid"
  | "storage_not_valid"
  | "storage_service_not_valid"
  | "storage_credentials_not_valid"
  | "outputs_not_valid"
  | "output_not_valid"
  | "output_format_not_valid"
  | "output_param_not_valid"
  | "output_condition_not_valid"
  | "output_key_not_unique"
  | "output_path_not_unique"
  | "outputs_out_of_range"
  | "notification_not_valid"
  | "settings_not_valid"
  | "report_not_valid"
  | "query_not_valid"
  | "idempotency_key_not_valid"
  | "uploads_not_available"
  | "upload_part_not_valid"
  | "authentication_failed"
  | "upload_not_allowed"
  | "cross_site_request"
  | "job_not_found"
  | "metadata_not_found"
  | "notification_not_found"
  | "account_not_found"
  | "credential_not_found"
  | "node_not_found"
  | "upload_not_found"
  | "object_not_found"
  | "route_not_found"
  | "method_not_allowed"
  | "account_state_conflict"
  | "job_state_conflict"
  | "upload_state_conflict"
  | "idempotency_key_reused"
  | "lease_superseded"
  | "upload_gone"
  | "precondition_failed"
  | "body_too_large"
  | "range_not_satisfiable"
  | "rate_limited"
  | "too_many_jobs"
  | "too_many_uploads"
  | "internal_error"
  | "service_unavailable"
  | "sealing_key_missing"
  | "input_address_not_allowed"
  | "input_not_media"
  | "input_codec_not_supported"
  | "input_encrypted"
  | "input_too_large"
  | "input_host_not_found"
  | "input_unreachable"
  | "input_timeout"
  | "input_has_no_video"
  | "input_has_no_audio"
  | "offset_beyond_end"
  | "watermark_failed"
  | "subtitle_failed"
  | "output_interval_not_possible"
  | "output_size_not_possible"
  | "copy_not_possible"
  | "encoding_failed"
  | "encoder_not_available"
  | "chunk_mismatch"
  | "storage_address_not_allowed"
  | "storage_denied"
  | "storage_bucket_not_found"
  | "storage_url_not_found"
  | "storage_region_not_valid"
  | "storage_unreachable"
  | "node_failed"
  | "node_lost"
  | "node_busy"
  | "turn_over"
  | "cancelled"
  | "job_not_started"
  | "job_timeout"
  | `input_http_${number}`;

/** Settings of the job */
export type Settings = {
  /**
   * Whether to split inputs longer than a minute into chunks that several nodes encode at the same
   * time
   */
  ultrafast?: boolean | undefined;
  /** Whether to measure VMAF, PSNR and SSIM of encoded videos against their source, for their metadata */
  quality_report?: boolean | undefined;
  /** The pool of nodes that does the work */
  queue?: string | undefined;
  /** Work of a higher priority is assigned first: -50 to 50 */
  priority?: number | undefined;
  /** Labels that a node must have to get the work, such as `gpu` or `region:eu` */
  require?: readonly string[] | undefined;
  /** The job fails if its work waits for a node for this many seconds; a day by default */
  start_within_s?: number | undefined;
  /**
   * The job fails if it has not ended this many seconds after its first task started; no limit by
   * default
   */
  max_run_s?: number | undefined;
  /** Changes for work that has waited for a node, by ascending `after_s` */
  hop?:
    | readonly {
        /** After how many seconds of waiting for a node the change applies */
        after_s: number;
        queue?: string | undefined;
        require?: readonly string[] | undefined;
        priority?: number | undefined;
      }[]
    | undefined;
};

/** The source */
export type InputRequest =
  | InputUrl
  | InputUpload
  | InputS3
  | InputGcs
  | InputDospaces
  | InputLinode
  | InputWasabi
  | InputR2
  | InputS3other;

/** A media file at a URL */
export type InputUrl = {
  /** The http or https URL of the media file; it may contain a user and password */
  url: string;
};

/** A file that was uploaded to the service */
export type InputUpload = {
  /** The id of a completed upload of the account */
  upload: string;
};

export type InputS3 = {
  /** Amazon S3 */
  service: "s3";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket */
  region: string;
  /** The path of the media file in the bucket; a leading slash is ignored */
  key: string;
};

export type InputGcs = {
  /** Google Cloud Storage, with HMAC keys */
  service: "gcs";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket */
  region?: string | undefined;
  /** The path of the media file in the bucket; a leading slash is ignored */
  key: string;
};

export type InputDospaces = {
  /** DigitalOcean Spaces */
  service: "dospaces";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket; by default that of `endpoint`, or nyc3 */
  region?: string | undefined;
  /** The URL that the control panel shows; an alternative to `region` */
  endpoint?: string | undefined;
  /** The path of the media file in the bucket; a leading slash is ignored */
  key: string;
};

export type InputLinode = {
  /** Linode Object Storage */
  service: "linode";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket */
  region: string;
  /** The path of the media file in the bucket; a leading slash is ignored */
  key: string;
};

export type InputWasabi = {
  /** Wasabi */
  service: "wasabi";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket */
  region: string;
  /** The path of the media file in the bucket; a leading slash is ignored */
  key: string;
};

export type InputR2 = {
  /** Cloudflare R2, located by either `account_id` or `endpoint` */
  service: "r2";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The id of the Cloudflare account; or use `endpoint` */
  account_id?: string | undefined;
  /** The S3 URL of the bucket without its name, for buckets in a jurisdiction */
  endpoint?: string | undefined;
  /** The path of the media file in the bucket; a leading slash is ignored */
  key: string;
};

export type InputS3other = {
  /** Any S3-compatible service */
  service: "s3other";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The http or https URL of the service, without the bucket */
  endpoint: string;
  /** The region of the bucket */
  region?: string | undefined;
  /** Whether requests name the bucket in the path of the URL, not in the host */
  force_path_style?: boolean | undefined;
  /** The path of the media file in the bucket; a leading slash is ignored */
  key: string;
};

/** Where to store the outputs */
export type Storage =
  | StorageS3
  | StorageGcs
  | StorageDospaces
  | StorageLinode
  | StorageWasabi
  | StorageR2
  | StorageS3other
  | StorageBackblaze
  | StorageAzure
  | StorageCoconut
  | StorageUrl;

export type StorageS3 = {
  /** Amazon S3 */
  service: "s3";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket */
  region: string;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** Whether the URLs of outputs start with https; false: http */
  secure?: boolean | undefined;
  /** The Cache-Control header that objects are served with */
  cache_control?: string | undefined;
  /** The Expires header that objects are served with: an HTTP or ISO 8601 date */
  expires?: string | undefined;
  /** Who may read objects; by default as the bucket specifies */
  acl?:
    | "private"
    | "public-read"
    | "public-read-write"
    | "authenticated-read"
    | "aws-exec-read"
    | "bucket-owner-read"
    | "bucket-owner-full-control"
    | undefined;
  /** The storage class of objects; by default as the bucket specifies */
  storage_class?:
    | "STANDARD"
    | "REDUCED_REDUNDANCY"
    | "STANDARD_IA"
    | "ONEZONE_IA"
    | "INTELLIGENT_TIERING"
    | "GLACIER"
    | "GLACIER_IR"
    | "DEEP_ARCHIVE"
    | undefined;
};

export type StorageGcs = {
  /** Google Cloud Storage, with HMAC keys */
  service: "gcs";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket */
  region?: string | undefined;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** Whether the URLs of outputs start with https; false: http */
  secure?: boolean | undefined;
  /** The Cache-Control header that objects are served with */
  cache_control?: string | undefined;
  /** The Expires header that objects are served with: an HTTP or ISO 8601 date */
  expires?: string | undefined;
  /** Who may read objects; by default as the bucket specifies */
  acl?:
    | "private"
    | "public-read"
    | "public-read-write"
    | "authenticated-read"
    | "bucket-owner-read"
    | "bucket-owner-full-control"
    | "project-private"
    | undefined;
  /** The storage class of objects; by default as the bucket specifies */
  storage_class?: "STANDARD" | "NEARLINE" | "COLDLINE" | "ARCHIVE" | undefined;
};

export type StorageDospaces = {
  /** DigitalOcean Spaces */
  service: "dospaces";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket; by default that of `endpoint`, or nyc3 */
  region?: string | undefined;
  /** The URL that the control panel shows; an alternative to `region` */
  endpoint?: string | undefined;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** Whether the URLs of outputs start with https; false: http */
  secure?: boolean | undefined;
  /** The Cache-Control header that objects are served with */
  cache_control?: string | undefined;
  /** The Expires header that objects are served with: an HTTP or ISO 8601 date */
  expires?: string | undefined;
  /** Who may read objects; by default as the bucket specifies */
  acl?: "private" | "public-read" | undefined;
  /** The storage class of objects; by default as the bucket specifies */
  storage_class?: "STANDARD" | undefined;
};

export type StorageLinode = {
  /** Linode Object Storage */
  service: "linode";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket */
  region: string;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** Whether the URLs of outputs start with https; false: http */
  secure?: boolean | undefined;
  /** The Cache-Control header that objects are served with */
  cache_control?: string | undefined;
  /** The Expires header that objects are served with: an HTTP or ISO 8601 date */
  expires?: string | undefined;
  /** Who may read objects; by default as the bucket specifies */
  acl?: "private" | "public-read" | "public-read-write" | "authenticated-read" | undefined;
  /** The storage class of objects; by default as the bucket specifies */
  storage_class?: "STANDARD" | undefined;
};

export type StorageWasabi = {
  /** Wasabi */
  service: "wasabi";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The region of the bucket */
  region: string;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** Whether the URLs of outputs start with https; false: http */
  secure?: boolean | undefined;
  /** The Cache-Control header that objects are served with */
  cache_control?: string | undefined;
  /** The Expires header that objects are served with: an HTTP or ISO 8601 date */
  expires?: string | undefined;
  /** Who may read objects; by default as the bucket specifies */
  acl?:
    | "private"
    | "public-read"
    | "public-read-write"
    | "authenticated-read"
    | "aws-exec-read"
    | "bucket-owner-read"
    | "bucket-owner-full-control"
    | undefined;
  /** The storage class of objects; by default as the bucket specifies */
  storage_class?: "STANDARD" | undefined;
};

export type StorageR2 = {
  /** Cloudflare R2, located by either `account_id` or `endpoint` */
  service: "r2";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The id of the Cloudflare account; or use `endpoint` */
  account_id?: string | undefined;
  /** The S3 URL of the bucket without its name, for buckets in a jurisdiction */
  endpoint?: string | undefined;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** Whether the URLs of outputs start with https; false: http */
  secure?: boolean | undefined;
  /** The Cache-Control header that objects are served with */
  cache_control?: string | undefined;
  /** The Expires header that objects are served with: an HTTP or ISO 8601 date */
  expires?: string | undefined;
  /** The storage class of objects; by default as the bucket specifies */
  storage_class?: "STANDARD" | "STANDARD_IA" | undefined;
};

export type StorageS3other = {
  /** Any S3-compatible service */
  service: "s3other";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    access_key_id: string;
    /** The secret of the key */
    secret_access_key: string;
  };
  /** The name of an existing bucket */
  bucket: string;
  /** The http or https URL of the service, without the bucket */
  endpoint: string;
  /** The region of the bucket */
  region?: string | undefined;
  /** Whether requests name the bucket in the path of the URL, not in the host */
  force_path_style?: boolean | undefined;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** Whether the URLs of outputs start with https; false: http */
  secure?: boolean | undefined;
  /** The Cache-Control header that objects are served with */
  cache_control?: string | undefined;
  /** The Expires header that objects are served with: an HTTP or ISO 8601 date */
  expires?: string | undefined;
  /** Who may read objects; by default as the bucket specifies */
  acl?: string | undefined;
  /** The storage class of objects; by default as the bucket specifies */
  storage_class?: string | undefined;
};

/** A bucket of Backblaze B2 */
export type StorageBackblaze = {
  service: "backblaze";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The id of the key */
    app_key_id: string;
    /** The secret of the key */
    app_key: string;
  };
  /** The id of an existing bucket */
  bucket_id: string;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** Whether the URLs of outputs start with https; false: http */
  secure?: boolean | undefined;
  /** The Cache-Control header that objects are served with */
  cache_control?: string | undefined;
  /** The Expires header that objects are served with: an HTTP or ISO 8601 date */
  expires?: string | undefined;
  /** Must be the ACL of the bucket */
  acl?: "private" | "public-read" | undefined;
};

/** A container of Azure Blob Storage */
export type StorageAzure = {
  service: "azure";
  /** Encrypted on arrival, never returned, never sent to encoder nodes */
  credentials: {
    /** The name of the storage account */
    account: string;
    /** One of the two access keys of the account, in Base64 */
    api_key: string;
  };
  /** The name of an existing container */
  container: string;
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
  /** The Cache-Control header that blobs are served with */
  cache_control?: string | undefined;
  /** The URL of the blob service of the account; https://<account>.blob.core.windows.net by default */
  endpoint?: string | undefined;
};

/** The built-in storage, for tests: outputs are public and deleted after 24 hours */
export type StorageCoconut = {
  service: "coconut";
  /** The folder that contains all outputs of the job */
  path?: string | undefined;
};

/**
 * An upload URL: each file is sent in a POST to the URL followed by the path of the output, in the
 * field `encoded_video`
 */
export type StorageUrl = {
  /** http or https; a user and password in the URL are encrypted on arrival and sent in a Basic header */
  url: string;
};

/**
 * A file with video and audio, or with one of them. Parameters that change the video require encoding
 * it
 */
export type VideoParams = {
  /** The path of the file in the storage */
  path: string;
  /**
   * Identifies the output in responses, unique in the job; the format by default, in an array with its
   * index from 1
   */
  key?: string | undefined;
  /** The output is created only if this condition is true, such as `{{ input.width }} >= 1280` */
  if?: string | undefined;
  /** Specs that override those in the name of the output */
  format?: FormatHash | undefined;
  /** Where in the input the output starts, in seconds */
  offset?: number | undefined;
  /** Length of the output, in seconds */
  duration?: number | undefined;
  /** How to fit video of another aspect ratio into the output size: pad (default) or crop */
  fit?: "pad" | "crop" | undefined;
  /**
   * Rotation by 90°: 0 counterclockwise and flipped, 1 clockwise, 2 counterclockwise, 3 clockwise and
   * flipped
   */
  transpose?: number | undefined;
  /** Flip vertically */
  vflip?: boolean | undefined;
  /** Flip horizontally */
  hflip?: boolean | undefined;
  /** An image to overlay on all frames */
  watermark?:
    | false
    | {
        /** The http or https URL of the overlay image */
        url: string;
        position?: "topleft" | "topright" | "bottomleft" | "bottomright" | undefined;
      }
    | undefined;
  /** Deinterlace interlaced video */
  deinterlace?: boolean | undefined;
  /**
   * Closed captions inside of the input's video (CEA-608 and CEA-708): keep (default) copies them
   * where the encoder supports it, and announces them in streams
   */
  captions?: "keep" | "drop" | undefined;
};

/**
 * Images from the video. At most one of `number`, `offsets` and `interval` is allowed. Animated
 * formats have `scene`, and none of `number`, `offsets`, `interval`, `sprite` and `vtt`
 */
export type ImageParams = {
  /**
   * The path of the file in the storage, with a counter such as `%02d` if there may be more than one
   * file
   */
  path: string;
  /**
   * Identifies the output in responses, unique in the job; the format by default, in an array with its
   * index from 1
   */
  key?: string | undefined;
  /** The output is created only if this condition is true, such as `{{ input.width }} >= 1280` */
  if?: string | undefined;
  /** Specs that override those in the name of the output */
  format?: FormatHash | undefined;
  /** Number of images, spread evenly over the duration: 1 to 100 */
  number?: number | undefined;
  /** The timestamps of the images, in seconds */
  offsets?: readonly number[] | undefined;
  /** One image every so many seconds; 0 chooses 2 to 30 by the length of the input */
  interval?: number | undefined;
  /** Combine the images into sprite sheets */
  sprite?:
    | boolean
    | {
        /** Maximum images on one sprite sheet; all by default */
        limit?: number | undefined;
        columns?: number | undefined;
      }
    | undefined;
  /** Create a WebVTT file that maps timestamps to images */
  vtt?:
    | boolean
    | {
        filename?: string | undefined;
      }
    | undefined;
  /** Scenes of a gif or webp_anim, spread evenly over the duration */
  scene?:
    | {
        /** Number of scenes, 1 to 10 */
        number?: number | undefined;
        /** Length of each scene, in seconds */
        duration?: number | undefined;
      }
    | undefined;
  /** Crop to the center square */
  square?: boolean | undefined;
  /** Blur strength, 1 to 5 */
  blur?: number | undefined;
  /** How to fit video of another aspect ratio into the output size: pad (default) or crop */
  fit?: "pad" | "crop" | undefined;
  /**
   * Rotation by 90°: 0 counterclockwise and flipped, 1 clockwise, 2 counterclockwise, 3 clockwise and
   * flipped
   */
  transpose?: number | undefined;
  /** Flip vertically */
  vflip?: boolean | undefined;
  /** Flip horizontally */
  hflip?: boolean | undefined;
  /** An image to overlay on all frames */
  watermark?:
    | false
    | {
        /** The http or https URL of the overlay image */
        url: string;
        position?: "topleft" | "topright" | "bottomleft" | "bottomright" | undefined;
      }
    | undefined;
};

/** HLS, DASH or both: at least one of `hls` and `dash` is required, and `encryption` requires `hls` */
export type HttpStreamParams = {
  /**
   * Identifies the output in responses, unique in the job; the format by default, in an array with its
   * index from 1
   */
  key?: string | undefined;
  /** The output is created only if this condition is true, such as `{{ input.width }} >= 1280` */
  if?: string | undefined;
  /** The folder in the storage that contains the folders of `hls` and `dash` */
  path?: string | undefined;
  /** HLS with MPEG-TS segments, or with fragmented MP4 when all variants with video are hevc */
  hls?:
    | {
        /** The folder of its files */
        path: string;
        /** The same as `playlist_name` of the stream */
        playlist_name?: string | undefined;
        /**
         * 3: each MPEG-TS segment of a variant contains both its video and its audio, for players of that
         * version
         */
        version?: number | undefined;
      }
    | undefined;
  /** DASH with fragmented MP4 segments */
  dash?:
    | {
        /** The folder of its files */
        path: string;
        /** Also create HLS playlists for the same segments */
        hlsfmp4?: boolean | undefined;
        /** The same as `playlist_name` of the stream */
        playlist_name?: string | undefined;
      }
    | undefined;
  /**
   * The formats of the renditions: mp4 with h264, hevc or novideo, and aac or noaudio. HLS contains
   * hevc variants only if there are no h264 variants. By default, 64k audio and video from 240p to
   * 2160p, up to the size of the input
   */
  variants?: readonly string[] | undefined;
  /** The file name of the master playlist and the manifest, without extension; master by default */
  playlist_name?: string | undefined;
  /**
   * 2 to 10 seconds; segments start with keyframes, so they may be longer by up to one keyframe
   * interval
   */
  segment_duration?: number | undefined;
  /** Encrypt the MPEG-TS segments of `hls` with AES-128; segments of `dash` are not encrypted */
  encryption?:
    | {
        /**
         * The AES-128 key in hexadecimal; by default the service creates one, which the metadata of the
         * output contains
         */
        key?: string | undefined;
        /** The URL from which players load the 16 bytes of the key, absolute or relative to the playlist */
        key_uri: string;
      }
    | undefined;
  /** Text tracks, of which at most one is the default */
  subtitles?:
    | readonly {
        /** The http or https URL of a WebVTT or SubRip file */
        url: string;
        /** BCP 47 tag */
        language: string;
        /** The name that players show; the language by default */
        name?: string | undefined;
        default?: boolean | undefined;
      }[]
    | undefined;
  /**
   * Closed captions inside of the input's video (CEA-608 and CEA-708): keep (default) copies them
   * where the encoder supports it, and announces them in streams
   */
  captions?: "keep" | "drop" | undefined;
  /**
   * Create sprite sheets of thumbnails for the seek bar of players, and a WebVTT file that locates
   * each thumbnail
   */
  thumbnails?: boolean | undefined;
  /**
   * Store the playlists while the stream is encoded, so that players can start: they grow with it
   * (HLS: type EVENT, DASH: a dynamic manifest), and are replaced by the complete ones at the end
   */
  live_playlist?: boolean | undefined;
  /**
   * Leave out variants that need more than three quarters of the bits of the next larger one, except
   * the smallest. All variants with video need `quality=vmaf…`
   */
  drop_similar_variants?: boolean | undefined;
};

export type FormatHash = {
  /**
   * 240p, 360p, 480p, 540p, 576p, 720p, 1080p, 1440p, 2160p or <width>x<height> in pixels, where 0 or
   * no number means automatic
   */
  resolution?: string | undefined;
  /**
   * h264, hevc, vp8, vp9, av1, theora, mpeg4, mpeg2video, mjpeg, prores, prores-ks, dnxhd, flv, h263,
   * wmv2, copy, novideo
   */
  video_codec?: string | undefined;
  /** kbit/s, 10 to 199999: 1500k or 1500 */
  video_bitrate?: number | string | undefined;
  /** Frames per second: 0, 15, 23.98, 24, 25, 29.97, 30, 50, 60; 0 is the frame rate of the source */
  fps?: number | string | undefined;
  /** aac, ac3, mp2, mp3, vorbis, opus, flac, pcm-s16le, pcm-u8, pcm-alaw, amr-nb, wmav2, copy, noaudio */
  audio_codec?: string | undefined;
  /** kbit/s, up to 512: 128k or 128 */
  audio_bitrate?: number | string | undefined;
  /** Hz: 8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000 */
  sample_rate?: number | string | undefined;
  /** mono (or 1), stereo (or 2), multi (all channels of the source) */
  audio_channel?: number | string | undefined;
  /** 1 to 5 (best), or a VMAF: vmaf70 to vmaf98; replaces the bitrate. Images: 1 to 5 */
  quality?: number | string | undefined;
  /** Maximum bitrate in kbit/s, with a quality or a bitrate: 3000k or 3000 */
  maxrate?: number | string | undefined;
  /** Pixel format: yuv420p, yuv422p, yuva444p10le, yuv420p10le */
  pix_fmt?: string | undefined;
  /** Encode in two passes; not allowed with quality */
  "2pass"?: boolean | undefined;
  /** Profile of h264 (hevc supports only main): baseline, main, high, high10, high422, high444 */
  vprofile?: string | undefined;
  /** Level of h264 or hevc times ten: 10 to 51 */
  level?: number | string | undefined;
  /** Write a fragmented file: mp4, mov, 3gp, m4a */
  frag?: boolean | undefined;
};

/** Where to send the events of the job */
export type Notification = NotificationHttp | NotificationSns | NotificationNone;

export type NotificationHttp = {
  /** A signed POST to a URL */
  type: "http";
  /** The URL that receives events as JSON, in POST requests */
  url: string;
  /** Parameters to add to the query string of the URL; at most 50 */
  params?:
    | {
        [name: string]: string | number | boolean;
      }
    | undefined;
  /**
   * Whether to send input.transferred, input.failed, output.completed, output.failed and job.aborted,
   * too
   */
  events?: boolean | undefined;
  /** Whether payloads include metadata */
  metadata?: boolean | undefined;
};

export type NotificationSns = {
  /** A message published to an Amazon SNS topic */
  type: "sns";
  /** The region of the topic, the same as in `topic_arn` */
  region: string;
  /** The topic; a FIFO topic, whose name ends in .fifo, keeps the events of a job in order */
  topic_arn: string;
  /** Credentials with the permission sns:Publish for the topic; encrypted on arrival and never returned */
  credentials: {
    /** The access key id */
    access_key_id: string;
    /** The secret access key */
    secret_access_key: string;
  };
  /** Message attributes to send besides `event` and `job_id`; at most 8 */
  params?:
    | {
        [name: string]: string | number | boolean;
      }
    | undefined;
  /**
   * Whether to send input.transferred, input.failed, output.completed, output.failed and job.aborted,
   * too
   */
  events?: boolean | undefined;
  /** Whether payloads include metadata */
  metadata?: boolean | undefined;
};

export type NotificationNone = {
  /** Notify nobody: for clients that follow the job, or the events of their account */
  type: "none";
  /**
   * Whether to send input.transferred, input.failed, output.completed, output.failed and job.aborted,
   * too
   */
  events?: boolean | undefined;
  /** Whether payloads include metadata */
  metadata?: boolean | undefined;
};

/** The jobs */
export type Bulk = {
  /** The ids of the jobs */
  ids?: string[] | undefined;
  /** Instead of ids: which jobs, newest first; without a status all that the operation is possible for */
  filter?:
    | {
        /** Only jobs with this status, or with one of several, separated by commas */
        status?: string | undefined;
        /** Only jobs whose id, input host, input path or output paths contain this text, in any case */
        q?: string | undefined;
        /** Only jobs created at this time or later; a date means its start in UTC */
        created_after?: string | undefined;
        /** Only jobs created before this time; a date means its start in UTC */
        created_before?: string | undefined;
      }
    | undefined;
  /** With a filter: maximum jobs of this request */
  limit?: number | undefined;
  /** With a filter: the `next_cursor` of the previous response */
  cursor?: string | undefined;
};

/** The name and size of a file */
export type NewUpload = {
  /** The name of the file, for people */
  name: string;
  /** The size of the file in bytes, at most 671088640000 */
  size: number;
};

/** A one-time link that was opened */
export type Once = {
  /** The secret of a one-time link */
  once: string;
  /** Only reads who the link signs in: the link can still be used, and no cookie is set */
  preview?: boolean | undefined;
};

/** Who the link signs in */
export type NewSessionLink = {
  /** The account that the operator's session shows first; only with the admin token */
  account?: string | undefined;
};

/** What to send, and to which URL */
export type NotificationTest = {
  /** The URL that receives the event, in a POST request */
  url: string;
  /** The event of which an example is sent */
  event?:
    | "input.transferred"
    | "input.failed"
    | "output.completed"
    | "output.failed"
    | "job.completed"
    | "job.failed"
    | "job.aborted"
    | undefined;
};

/** Where to send it; without a body to the URL of the job */
export type Replay = {
  /**
   * Send it once to this URL, and not to that of the job; the schedule of the notification stays the
   * same
   */
  url?: string | undefined;
};

/** The name of a new account */
export type Named = {
  /** A name for the operator: 1 to 100 characters */
  name: string;
};

/** A new node token, and what it binds */
export type NodeToken = {
  /** A name for the operator: 1 to 100 characters */
  name: string;
  /** The only pool whose work nodes with this token get */
  pool?: string | undefined;
  /** Labels of all nodes with this token, such as `gpu` or `region:eu` */
  labels?: string[] | undefined;
};

/** The limits of an account */
export type Limits = {
  /** Maximum unfinished jobs of the account; null: the MAX_UNFINISHED_JOBS of the service */
  max_unfinished_jobs?: number | null | undefined;
  /** Maximum tasks of the account that run on nodes at a time; null: no limit */
  max_running?: number | null | undefined;
  /**
   * The share of the account in the nodes while others wait: twice the weight gets twice the encoding
   * time
   */
  weight?: number | undefined;
};

/** Where to continue */
export type Reseal = {
  /** The `next_cursor` of the previous response; null or absent: start from the beginning */
  cursor?: string | null | undefined;
};

/** A job */
export type Job = {
  /** 14 letters and digits */
  id: string;
  /** YYYY-MM-DD HH:MM:SS +0000 */
  created_at: string;
  /** When the job ended; null until then */
  completed_at: string | null;
  status: "job.starting" | "job.completed" | "job.failed" | "job.aborted";
  /**
   * The work of a job that has not ended: `queued` while it waits for a node, `running` while a node
   * inspects or encodes, `storing` while only uploads are left
   */
  state?: "queued" | "running" | "storing" | undefined;
  /** When a node began to work on it; absent before that */
  started_at?: string | undefined;
  /** Progress of the job in percent; never decreases, and is 100% only at the end */
  progress: string;
  input: Input;
  /** The outputs in the order of the request */
  outputs: Output[];
  /**
   * The result of `settings.ultrafast`; absent without this setting and before the inspection of the
   * input
   */
  ultrafast?:
    | {
        /** Number of chunks; 0 if the input is encoded in one piece */
        chunks: number;
        /** Why the input is encoded in one piece, in one sentence */
        reason?: string | undefined;
      }
    | undefined;
  /** What the job waits for, if no node of the last ten minutes has it, such as `a node with libsvtav1` */
  waiting_for?: string | undefined;
};

/** A page of the jobs of the account */
export type JobList = {
  /** Newest first */
  jobs: Job[];
  /** The `cursor` of the next page; null on the last page */
  next_cursor: string | null;
};

/** The numbers of jobs of the account */
export type JobCounts = {
  /** The number of jobs by status */
  counts: {
    [name: string]: number;
  };
  /**
   * Whether there are more: only the newest 10,000 of each status are counted, with `q` the newest
   * 2,000
   */
  capped: boolean;
};

/** What was done with each job */
export type BulkResult = {
  /** The jobs in the order of the ids or of the filter */
  jobs: {
    id: string;
    /** The new status of the job */
    status?: "job.starting" | "job.completed" | "job.failed" | "job.aborted" | undefined;
    /** Why nothing was done with this job */
    error?:
      | {
          error_code:
            | "json_not_valid"
            | "request_not_valid"
            | "input_not_valid"
            | "input_url_not_valid"
            | "storage_not_valid"
            | "storage_service_not_valid"
            | "storage_credentials_not_valid"
            | "outputs_not_valid"
            | "output_not_valid"
            | "output_format_not_valid"
            | "output_param_not_valid"
            | "output_condition_not_valid"
            | "output_key_not_unique"
            | "output_path_not_unique"
            | "outputs_out_of_range"
            | "notification_not_valid"
            | "settings_not_valid"
            | "report_not_valid"
            | "query_not_valid"
            | "idempotency_key_not_valid"
            | "uploads_not_available"
            | "upload_part_not_valid"
            | "authentication_failed"
            | "upload_not_allowed"
            | "cross_site_request"
            | "job_not_found"
            | "metadata_not_found"
            | "notification_not_found"
            | "account_not_found"
            | "credential_not_found"
            | "node_not_found"
            | "upload_not_found"
            | "object_not_found"
            | "route_not_found"
            | "method_not_allowed"
            | "account_state_conflict"
            | "job_state_conflict"
            | "upload_state_conflict"
            | "idempotency_key_reused"
            | "lease_superseded"
            | "upload_gone"
            | "precondition_failed"
            | "body_too_large"
            | "range_not_satisfiable"
            | "rate_limited"
            | "too_many_jobs"
            | "too_many_uploads"
            | "internal_error"
            | "service_unavailable"
            | "sealing_key_missing";
          message: string;
        }
      | undefined;
  }[];
  /** Whether there may be more jobs of the filter */
  has_more: boolean;
  /** The `cursor` of the next request; null when there are no more jobs */
  next_cursor: string | null;
};

/** An upload of a source file */
export type Upload = {
  id: string;
  name: string;
  /** The size of the file in bytes */
  size: number;
  /** The size of all parts but the last in bytes */
  part_size: number;
  /** `open` until it is `completed`, and jobs can read it */
  status: "open" | "completed";
  created_at: string;
  /** When it is removed, unless it is written or a job reads it before */
  expires_at: string;
  /** The stored parts, by number */
  parts: UploadPart[];
  /**
   * From where the file can be read for six hours, also in ranges, by anyone who has the URL; only in
   * responses to `GET`, when it is `completed`
   */
  url?: string | undefined;
};

/** A page of the uploads of the account */
export type UploadList = {
  /** Newest first */
  uploads: UploadSummary[];
  /** The `cursor` of the next page; null on the last page */
  next_cursor: string | null;
};

/** A stored part of an upload */
export type UploadPart = {
  /** The number of the part, from 1 */
  number: number;
  /** Its size in bytes */
  size: number;
  /** The storage's name for this version of the part */
  etag: string;
};

/** The tasks of a job and their attempts */
export type TaskList = {
  job_id: string;
  /** The tasks since the job was started last, and all chunks of its video */
  tasks: Task[];
  /** Ended attempts by their end: the last 200 */
  attempts: Attempt[];
  /** Number of earlier attempts that are not kept */
  attempts_dropped: number;
};

/** The commands that ran for a job */
export type CommandList = {
  job_id: string;
  /** In the order in which their tasks ended */
  commands: Command[];
  /** Number of commands that are not kept, because there were too many */
  commands_dropped: number;
};

/** The request of a job as the service understood it */
export type RequestView = {
  job_id: string;
  /** A body for `POST /v2/jobs` that requests the same, once what was left out is added */
  request: {
    input: {
      [name: string]: unknown;
    };
    storage: {
      [name: string]: unknown;
    };
    outputs: {
      [name: string]: unknown;
    };
    notification: {
      [name: string]: unknown;
    };
    settings: {
      [name: string]: unknown;
    };
    [name: string]: unknown;
  };
  /**
   * The fields that are missing because they are secret, or lack a secret part: of URLs, user and
   * query
   */
  left_out: string[];
};

/** The plan of a job that is not created */
export type DryRunPlan = {
  dry_run: true;
  /** The assumed source */
  assumed_source: {
    width: number;
    height: number;
    fps: number;
    duration: number;
    rotation: number;
    audio: boolean;
  };
  /** The source that would be fetched */
  input: {
    [name: string]: unknown;
  };
  /** The storage of the outputs */
  storage: {
    [name: string]: unknown;
  };
  outputs: {
    key: string;
    type: "video" | "image" | "httpstream";
    /** The format in canonical form */
    format: string;
    path?: string | undefined;
    condition?: string | undefined;
    /** The complete specification from format and parameters; null means automatic */
    spec: {
      [name: string]: unknown;
    };
    url?: string | undefined;
    urls?: string[] | PlaylistUrl[] | undefined;
    vtt_url?: string | undefined;
    /** The renditions of an HTTP stream, in the order of its playlists */
    renditions?:
      | {
          /** The name of its video track, as in the URLs of segments; null: audio only */
          video: string | null;
          /** The name of its audio track; null: no audio */
          audio: string | null;
          width?: number | undefined;
          height?: number | undefined;
          fps?: number | undefined;
          /** The packages that contain it; hls does not contain HEVC */
          packages: ("hls" | "dash")[];
        }[]
      | undefined;
    /** The condition is false for the assumed source */
    skipped?: true | undefined;
  }[];
  /** The arguments of ffmpeg on a node; the node may use another encoder */
  commands: {
    outputs: string[];
    argv: string[];
  }[];
  /** Outputs that are not possible with such a source */
  refusals: {
    key: string;
    error: string;
    error_code: string;
  }[];
};

/** The notifications of a job */
export type NotificationLog = {
  job_id: string;
  /** In the order of the events */
  notifications: Delivery[];
};

/** One event on its way to the client */
export type Delivery = {
  /** The same in all attempts: identifies duplicates */
  id: string;
  event:
    | "input.transferred"
    | "input.failed"
    | "output.completed"
    | "output.failed"
    | "job.completed"
    | "job.failed"
    | "job.aborted";
  /** `due` until it is `delivered`, or `abandoned` at the end of its schedule */
  status: "due" | "delivered" | "abandoned";
  /** All attempts, replays included */
  attempts: number;
  /** YYYY-MM-DD HH:MM:SS +0000 */
  created_at: string;
  /** Null when it is not due */
  next_attempt_at: string | null;
  /** The receiver's HTTP status, or why there was no response */
  last_result: string | null;
  /** After a replay to another URL: what it responded */
  response?: EndpointResult | undefined;
};

/** What an endpoint responded */
export type EndpointResult = {
  /** Whether it responded with a status 2xx */
  delivered: boolean;
  /** The HTTP status of the response; null if there was none */
  status: number | null;
  /** Why there was no response */
  error?: string | undefined;
  /** How long the response took */
  seconds: number;
};

/** All metadata of a job known so far */
export type JobMetadata = {
  job_id: string;
  metadata: {
    /** Empty before the input is probed */
    input: MediaMetadata | Record<string, never>;
    /** For each finished output, an object with one property, whose name is the key */
    outputs: {
      [name: string]: FileMetadata | HttpStreamMetadata;
    }[];
    /** How a video was encoded in chunks */
    ultrafast?:
      | {
          chunks: {
            /** Number of frames of the source */
            frames: number;
            seconds: number;
            /** The encoder node that encoded the chunk */
            node: string;
            /** Number of attempts */
            attempts: number;
            encode_seconds: number;
          }[];
          frames_planned: number;
          frames_joined: number;
          /** The largest difference between the planned and the actual timestamp of a frame, in µs */
          largest_error_us: number;
          /** How much longer the video is than the audio, in ms; null without audio */
          picture_over_sound_ms: number | null;
          /** Number of failed attempts of all tasks */
          retries: number;
          encoder: string;
        }
      | undefined;
  };
};

/** The metadata of the input or of one output */
export type KeyMetadata = {
  job_id: string;
  /** One property, whose name is the requested key */
  metadata: {
    [name: string]: FileMetadata | HttpStreamMetadata;
  };
};

/** What an account has used */
export type Usage = {
  from: string;
  /** The last day */
  to: string;
  /** All days, the oldest first */
  days: UsageDay[];
  total: UsageTotal;
};

/** Who sends the request */
export type Session = {
  /** The account of the session; null for an operator who has chosen none */
  account: {
    id: string;
    name: string;
  } | null;
  /** Whether the session has the rights of the admin token */
  operator: boolean;
  /** When the session ends; null for an API key or a token itself */
  expires_at: string | null;
};

/** A one-time link to the dashboard */
export type SessionLink = {
  /** A page that begins a session with the rights of the credential, once */
  url: string;
  expires_at: string;
};

/** The cookie is removed */
export type SignedOut = {
  signed_out: true;
};

/** The service is healthy */
export type Health = {
  status: "ok";
  /** Number of connected encoder nodes */
  nodes: number;
};

/** The service can do its work */
export type Ready = {
  status: "ready";
  /** Number of connected encoder nodes */
  nodes: number;
};

/** A new account with its first API key */
export type NewAccount = {
  account_id: string;
  /** Returned only once */
  api_key: string;
  /** Verifies the notifications of the account; returned only once */
  webhook_secret: string;
};

/** All accounts, oldest first */
export type AccountList = {
  accounts: {
    id: string;
    name: string;
    /** YYYY-MM-DD HH:MM:SS +0000 */
    created_at: string;
    /** The limit of the account; null: the limit of the service */
    max_unfinished_jobs: number | null;
    /** Maximum tasks that run at a time; null: no limit */
    max_running: number | null;
    /** The share in the nodes while other accounts wait */
    weight: number;
  }[];
};

/** A new API key */
export type NewKey = {
  /** 12 hexadecimal digits */
  id: string;
  /** Returned only once */
  api_key: string;
};

/** The API keys of an account */
export type KeyList = {
  keys: {
    /** 12 hexadecimal digits */
    id: string;
    /** YYYY-MM-DD HH:MM:SS +0000 */
    created_at: string;
    /** The name of the pepper of its stored digest; null: a pepper without a name */
    pepper: string | null;
    /** Null while it is valid */
    revoked_at: string | null;
  }[];
};

/** A new node token */
export type NewNodeToken = {
  /** 12 hexadecimal digits */
  id: string;
  /** Returned only once */
  node_token: string;
  /** The only pool of its nodes */
  pool: string;
  /** Labels of all its nodes */
  labels: string[];
};

/** All node tokens */
export type NodeTokenList = {
  node_tokens: {
    /** 12 hexadecimal digits */
    id: string;
    /** YYYY-MM-DD HH:MM:SS +0000 */
    created_at: string;
    /** The name of the pepper of its stored digest; null: a pepper without a name */
    pepper: string | null;
    /** Null while it is valid */
    revoked_at: string | null;
    name: string;
    /** The only pool of its nodes */
    pool: string;
    /** Labels of all its nodes */
    labels: string[];
  }[];
};

/** The credential is revoked */
export type Revoked = {
  /** 12 hexadecimal digits */
  id: string;
  revoked: true;
};

/** The limits of an account */
export type AccountLimits = {
  account_id: string;
  /** The limit of the account; null: the limit of the service */
  max_unfinished_jobs: number | null;
  /** Maximum tasks that run at a time; null: no limit */
  max_running: number | null;
  /** The share in the nodes while other accounts wait */
  weight: number;
};

/** The new webhook secret of an account */
export type RotatedSecret = {
  account_id: string;
  /** The new secret; returned only once */
  webhook_secret: string;
  /** Until then, notifications have signatures with both secrets */
  previous_until: string;
};

/** The result for some accounts and jobs */
export type Resealed = {
  /** Number of secrets that were encrypted with an older key */
  resealed: number;
  /** Accounts or jobs that could not be processed */
  failed: {
    id: string;
    message: string;
  }[];
  /** The `cursor` of the next request; null when all secrets are done */
  next_cursor: string | null;
};

/** All nodes */
export type NodeList = {
  /** By pool and name */
  nodes: Node[];
};

/** An encoder node with its leases and capabilities */
export type NodeDetails = {
  /** The name of the node */
  id: string;
  /**
   * `ready`: gets work. `not_ready`: gets none, for the reasons in `not_ready`. `cordoned`: gets none,
   * by the operator. `draining`: ends when its tasks are done. `quarantined`: failed several jobs, and
   * gets one task at a time or none. `offline`: cordoned, and not connected
   */
  state: "ready" | "not_ready" | "cordoned" | "draining" | "quarantined" | "offline";
  /** Why it cannot work now, as it states: what it cannot reach, and what to do. Empty if it can */
  not_ready: string[];
  pool: string;
  /** The labels of its token and its own */
  labels: string[];
  /** The value of its label `region:…` */
  region: string | null;
  /** Whether its machine may be taken away at any time */
  spot: boolean;
  host: string | null;
  /** The version of the node's program */
  version: string | null;
  protocol: number | null;
  /** The version of its ffmpeg */
  ffmpeg: string | null;
  cpus: number | null;
  /** The hardware that it encodes with */
  hardware: "nvenc" | "qsv" | "vaapi" | "videotoolbox" | null;
  /** The disk of its work folder, as of its last report */
  disk: {
    free_bytes: number;
    total_bytes: number;
  } | null;
  /** Free encode slots may be held for sources that the node inspects */
  slots: {
    inspect: {
      /** Slots that wait for work */
      free: number;
      /** Slots with a task */
      running: number;
    };
    encode: {
      /** Slots that wait for work */
      free: number;
      /** Slots with a task */
      running: number;
    };
  };
  /** Number of leases that it holds */
  leases: number;
  /** The share of its last ten jobs that failed by its fault, 0 to 1 */
  score: number;
  connected_at: string | null;
  /** The hub that it is connected to */
  hub: string;
  /** The leases that it holds; a lease starts with the id of its job */
  running: {
    lease: string;
    class: "inspect" | "encode";
  }[];
  /** What its ffmpeg supports, by ffmpeg's names */
  capabilities: {
    ffmpegVersion: string;
    encoders: string[];
    cpus: number;
    filters?: string[] | undefined;
    muxers?: string[] | undefined;
    hardware?:
      | {
          name: "nvenc" | "qsv" | "vaapi" | "videotoolbox";
          path: string | null;
          encoders: string[];
        }
      | null
      | undefined;
    vulnerabilities?: string[] | undefined;
    isolation?:
      | {
          level: "full" | "partial" | "none";
          missing: ("files" | "processes" | "privileges" | "network" | "limits")[];
        }
      | undefined;
  } | null;
};

/** How much work runs and waits: of all pools, and of each */
export type Autoscale = {
  /** Encodes, and inspections: each holds an encode slot for its job */
  encode: {
    /** `running` + `waiting`: the number of slots that would let nothing wait */
    wanted: number;
    /** Tasks that nodes work on */
    running: number;
    /** Tasks that wait for a node */
    waiting: number;
    /** Slots that wait for work */
    free: number;
    /** How long the oldest task has waited */
    oldest_wait_seconds: number;
    /** The average time of a task */
    mean_task_seconds: number;
  };
  /** Inspections alone */
  inspect: {
    /** `running` + `waiting`: the number of slots that would let nothing wait */
    wanted: number;
    /** Tasks that nodes work on */
    running: number;
    /** Tasks that wait for a node */
    waiting: number;
    /** Slots that wait for work */
    free: number;
    /** How long the oldest task has waited */
    oldest_wait_seconds: number;
    /** The average time of a task */
    mean_task_seconds: number;
  };
  /** The same for each pool */
  pools: {
    [name: string]: {
      /** Encodes, and inspections: each holds an encode slot for its job */
      encode: {
        /** `running` + `waiting`: the number of slots that would let nothing wait */
        wanted: number;
        /** Tasks that nodes work on */
        running: number;
        /** Tasks that wait for a node */
        waiting: number;
        /** Slots that wait for work */
        free: number;
        /** How long the oldest task has waited */
        oldest_wait_seconds: number;
        /** The average time of a task */
        mean_task_seconds: number;
      };
      /** Inspections alone */
      inspect: {
        /** `running` + `waiting`: the number of slots that would let nothing wait */
        wanted: number;
        /** Tasks that nodes work on */
        running: number;
        /** Tasks that wait for a node */
        waiting: number;
        /** Slots that wait for work */
        free: number;
        /** How long the oldest task has waited */
        oldest_wait_seconds: number;
        /** The average time of a task */
        mean_task_seconds: number;
      };
    };
  };
};

/** A job was created, has another status, or has ended */
export type JobEvent = {
  /** 14 letters and digits */
  id: string;
  status: "job.starting" | "job.completed" | "job.failed" | "job.aborted";
  /** Progress of the job in percent; never decreases, and is 100% only at the end */
  progress: string;
  created_at: string;
  completed_at: string | null;
  outputs: {
    completed: number;
    failed: number;
    total: number;
  };
};

/** A notification is due */
export type NotificationEvent = {
  /** The id of the notification, as in the log of its job */
  id: string;
  job_id: string;
  event:
    | "input.transferred"
    | "input.failed"
    | "output.completed"
    | "output.failed"
    | "job.completed"
    | "job.failed"
    | "job.aborted";
  /** The body of the notification, exactly as it is sent */
  body: string;
};

/** Events after `Last-Event-ID` are no longer kept: read the list of jobs for what was missed */
export type GapEvent = {
  missed: true;
};

/** An upload without its parts */
export type UploadSummary = {
  id: string;
  name: string;
  /** The size of the file in bytes */
  size: number;
  /** The size of all parts but the last in bytes */
  part_size: number;
  /** `open` until it is `completed`, and jobs can read it */
  status: "open" | "completed";
  created_at: string;
  /** When it is removed, unless it is written or a job reads it before */
  expires_at: string;
};

/** A task of a job */
export type Task = {
  /** Unique in the job */
  id: string;
  kind: "inspect" | "encode" | "chunk" | "audio" | "join";
  /** The keys of the outputs that it makes */
  outputs: string[];
  /** `failed`: it was given up, because it failed too often or the job ended before */
  status: "waiting" | "running" | "completed" | "failed";
  /** The part of the input's video that a task of kind `chunk` encodes */
  chunk?:
    | {
        /** From 1, in time order */
        number: number;
        /** Where it starts in the input's video */
        from_seconds: number;
        to_seconds: number;
      }
    | undefined;
  /** How many nodes have taken it so far; 0 before the first */
  attempt: number;
  /** The node that has it, or had it last */
  node?: string | undefined;
  /** When that node took it */
  started_at?: string | undefined;
  ended_at?: string | undefined;
  /** What its node does now */
  stage?: "transferring" | "encoding" | "uploading" | undefined;
  /** The completed share of the stage, 0 to 1; 1 when it is completed */
  progress: number;
  /** Frames per second that ffmpeg encodes, or has encoded on average */
  fps?: number | undefined;
  /** How many seconds of the input it encodes in a second */
  speed?: number | undefined;
};

/** The work of one node on a task, after its end */
export type Attempt = {
  /** The id of the task, which may be one of an earlier start of the job */
  task: string;
  /** From 1 */
  attempt: number;
  node: string;
  started_at: string;
  ended_at: string;
  outcome: "completed" | "failed" | "lost" | "returned" | "superseded" | "cancelled";
  /** Why it was not completed, in one sentence */
  reason?: string | undefined;
};

/** One run of ffmpeg */
export type Command = {
  /** The id of its task */
  task: string;
  attempt: number;
  node: string;
  /**
   * The arguments of ffmpeg. Files have names without folders, the input is `source`, and URLs have no
   * user, password and query. Arguments that are too long to be kept end in `…`
   */
  argv: string[];
  started_at: string;
  seconds: number;
  /** Null if a signal ended it */
  exit_code: number | null;
  /** The signal that ended it, such as `SIGKILL` */
  signal?: string | undefined;
  /** The end of what it printed; only if it failed */
  stderr_tail?: string | undefined;
};

/** Changes of a job's tasks */
export type TaskChanges = {
  /** The tasks that have changed since the event before */
  tasks: Task[];
  /** The ids of tasks that no longer exist, such as a second attempt at a chunk that was not needed */
  removed: string[];
  /** The attempts that have ended since */
  attempts: Attempt[];
};

/** The usage of the jobs that ended on a day */
export type UsageDay = {
  day: string;
  /** How often jobs ended; a job that is retried ends again */
  jobs: {
    completed: number;
    failed: number;
    cancelled: number;
  };
  /** The length of what was made: of each finished video, and of each rendition of a stream */
  output_seconds: {
    /** Audio without video */
    audio: number;
    /** Video of less than 1280 pixels on its longer side and 720 on its shorter one */
    sd: number;
    /** Larger video, up to 1920 and 1080 */
    hd: number;
    /** Larger video */
    uhd: number;
  };
  /** The time that nodes worked on tasks, attempts that failed included */
  node_seconds: number;
  /** The size of the files of finished outputs */
  stored_bytes: number;
};

/** The usage of all days */
export type UsageTotal = {
  /** How often jobs ended; a job that is retried ends again */
  jobs: {
    completed: number;
    failed: number;
    cancelled: number;
  };
  /** The length of what was made: of each finished video, and of each rendition of a stream */
  output_seconds: {
    /** Audio without video */
    audio: number;
    /** Video of less than 1280 pixels on its longer side and 720 on its shorter one */
    sd: number;
    /** Larger video, up to 1920 and 1080 */
    hd: number;
    /** Larger video */
    uhd: number;
  };
  /** The time that nodes worked on tasks, attempts that failed included */
  node_seconds: number;
  /** The size of the files of finished outputs */
  stored_bytes: number;
};

/** An encoder node */
export type Node = {
  /** The name of the node */
  id: string;
  /**
   * `ready`: gets work. `not_ready`: gets none, for the reasons in `not_ready`. `cordoned`: gets none,
   * by the operator. `draining`: ends when its tasks are done. `quarantined`: failed several jobs, and
   * gets one task at a time or none. `offline`: cordoned, and not connected
   */
  state: "ready" | "not_ready" | "cordoned" | "draining" | "quarantined" | "offline";
  /** Why it cannot work now, as it states: what it cannot reach, and what to do. Empty if it can */
  not_ready: string[];
  pool: string;
  /** The labels of its token and its own */
  labels: string[];
  /** The value of its label `region:…` */
  region: string | null;
  /** Whether its machine may be taken away at any time */
  spot: boolean;
  host: string | null;
  /** The version of the node's program */
  version: string | null;
  protocol: number | null;
  /** The version of its ffmpeg */
  ffmpeg: string | null;
  cpus: number | null;
  /** The hardware that it encodes with */
  hardware: "nvenc" | "qsv" | "vaapi" | "videotoolbox" | null;
  /** The disk of its work folder, as of its last report */
  disk: {
    free_bytes: number;
    total_bytes: number;
  } | null;
  /** Free encode slots may be held for sources that the node inspects */
  slots: {
    inspect: {
      /** Slots that wait for work */
      free: number;
      /** Slots with a task */
      running: number;
    };
    encode: {
      /** Slots that wait for work */
      free: number;
      /** Slots with a task */
      running: number;
    };
  };
  /** Number of leases that it holds */
  leases: number;
  /** The share of its last ten jobs that failed by its fault, 0 to 1 */
  score: number;
  connected_at: string | null;
  /** The hub that it is connected to */
  hub: string;
};

/** The input of a job */
export type Input = {
  status: "input.starting" | "input.transferring" | "input.transferred" | "input.failed";
  /** Why it failed, in one sentence */
  error?: string | undefined;
  /** Why it failed, as an error code */
  error_code?: string | undefined;
  /**
   * Where the source is: its URL without user, password and query; of an upload
   * `upload://<id>/<name>`. Absent in jobs from before this field
   */
  source?: string | undefined;
};

/** One output of a job */
export type Output = {
  /** The key from the request, or the format by default */
  key: string;
  /** Audio outputs have the type video, too */
  type: "video" | "image" | "httpstream";
  /** The format from the request; in canonical form if the request has a `format` hash */
  format: string;
  status:
    | "video.waiting"
    | "video.queued"
    | "video.encoding"
    | "video.encoded"
    | "video.failed"
    | "video.skipped"
    | "video.aborted"
    | "image.waiting"
    | "image.queued"
    | "image.processing"
    | "image.created"
    | "image.failed"
    | "image.skipped"
    | "image.aborted"
    | "httpstream.waiting"
    | "httpstream.queued"
    | "httpstream.variants.encoding"
    | "httpstream.packaging"
    | "httpstream.packaged"
    | "httpstream.failed"
    | "httpstream.skipped"
    | "httpstream.aborted";
  /** Progress of this output; absent before it starts */
  progress?: string | undefined;
  /** The URL of a finished video */
  url?: string | undefined;
  /**
   * The URLs of finished images, with a WebVTT file last, or the playlists and manifests of an HTTP
   * stream
   */
  urls?: string[] | PlaylistUrl[] | undefined;
  /** The URL of the WebVTT file of images; also the last one of `urls` */
  vtt_url?: string | undefined;
  /** Where an HTTP stream with `live_playlist` can be played while it is encoded */
  live?:
    | {
        /** The URL of the HLS playlist */
        hls?: string | undefined;
        /** The URL of the DASH manifest */
        dash?: string | undefined;
        /** How much of the stream can be played already, in seconds */
        seconds: number;
      }
    | undefined;
  /**
   * ffmpeg's name of the encoder of a finished video or audio, such as `libx264`; `copy` without
   * encoding
   */
  encoder?: string | undefined;
  /** Anything unusual about the encoding, in one sentence */
  note?: string | undefined;
  /** Why it failed, in one sentence */
  error?: string | undefined;
  /** Why it failed, as an error code */
  error_code?: string | undefined;
};

/** A playlist (HLS) or manifest (DASH) */
export type PlaylistUrl = {
  format: "hls" | "dash";
  url: string;
  /** The segments: MPEG-TS or fragmented MP4. Absent in jobs from before this field */
  segments?: "mpegts" | "fmp4" | undefined;
};

export type MediaMetadata = {
  streams: StreamMetadata[];
  format: {
    filename?: string | undefined;
    format_name?: string | undefined;
    start_time?: string | undefined;
    duration?: string | undefined;
    size?: string | undefined;
    bit_rate?: string | undefined;
    tags?:
      | {
          [name: string]: string;
        }
      | undefined;
    [name: string]: unknown;
  };
};

export type StreamMetadata = {
  index: number;
  codec_type?: string | undefined;
  codec_name?: string | undefined;
  codec_tag_string?: string | undefined;
  width?: number | undefined;
  height?: number | undefined;
  sample_aspect_ratio?: string | undefined;
  pix_fmt?: string | undefined;
  sample_fmt?: string | undefined;
  has_b_frames?: number | undefined;
  field_order?: string | undefined;
  color_range?: string | undefined;
  color_space?: string | undefined;
  color_transfer?: string | undefined;
  color_primaries?: string | undefined;
  chroma_location?: string | undefined;
  r_frame_rate?: string | undefined;
  avg_frame_rate?: string | undefined;
  start_time?: string | undefined;
  duration?: string | undefined;
  bit_rate?: string | undefined;
  sample_rate?: string | undefined;
  channels?: number | undefined;
  channel_layout?: string | undefined;
  nb_frames?: string | undefined;
  nb_read_packets?: string | undefined;
  disposition?:
    | {
        [name: string]: number;
      }
    | undefined;
  tags?:
    | {
        [name: string]: string;
      }
    | undefined;
  side_data_list?:
    | {
        rotation?: number | undefined;
        [name: string]: unknown;
      }[]
    | undefined;
  /** The programs that contain the stream, if the input has several (MPEG-TS with several channels) */
  programs?: number[] | undefined;
  /** The node found no packet of this stream in the input, or no audio in its packets; not from ffprobe */
  empty?: true | undefined;
  /**
   * Read by the node from the packets of a used stream of the input, in seconds on the file's clock;
   * not from ffprobe
   */
  packets?:
    | {
        /** Start of the first visible packet, which may be before the start of the timeline */
        first: number;
        /** Start of the first packet at or after the start of the timeline */
        from: number;
        /** Start of the last packet */
        last: number;
        /** End of the last packet */
        end: number;
        /** Number of visible packets; absent if only the start and the end were read */
        count?: number | undefined;
        /** The clock of the file restarts or jumps. All times are on the clock of its first part */
        restarts?: true | undefined;
        /**
         * Timestamps fall back here, and ffmpeg leaves out what has earlier ones, as after a broken
         * transmission
         */
        falls_back_at?: number | undefined;
        /** The file lacks packets that its header declares, because it is truncated or damaged */
        cut_short?: true | undefined;
      }
    | undefined;
  [name: string]: unknown;
};

/** Metadata of a file: what ffprobe prints, and its quality if it was measured */
export type FileMetadata = {
  streams: StreamMetadata[];
  format: {
    filename?: string | undefined;
    format_name?: string | undefined;
    start_time?: string | undefined;
    duration?: string | undefined;
    size?: string | undefined;
    bit_rate?: string | undefined;
    tags?:
      | {
          [name: string]: string;
        }
      | undefined;
    [name: string]: unknown;
  };
  quality?: QualityMetadata | undefined;
};

/** Metadata of each package of an HTTP stream; the file name is the URL of its playlist or manifest */
export type HttpStreamMetadata = {
  hls?: HlsMetadata | undefined;
  /** The tracks in fragmented MP4 */
  dash?: MediaMetadata | undefined;
  quality?: QualityMetadata | undefined;
};

/** The tracks of each variant; `tags.variant_bitrate` is the bandwidth of the variant in bit/s */
export type HlsMetadata = {
  streams: StreamMetadata[];
  format: {
    filename?: string | undefined;
    format_name?: string | undefined;
    start_time?: string | undefined;
    duration?: string | undefined;
    size?: string | undefined;
    bit_rate?: string | undefined;
    tags?:
      | {
          [name: string]: string;
        }
      | undefined;
    [name: string]: unknown;
  };
  /** The encryption of the segments: only for keys that the service created, and never in notifications */
  encryption?:
    | {
        method: "AES-128";
        /** The key in hexadecimal */
        key: string;
        /** The URL from which players load the key, as in the request */
        key_uri: string;
      }
    | undefined;
};

/** The quality of the video compared with its source, with `settings.quality_report` or `quality=vmaf…` */
export type QualityMetadata = {
  renditions?: MeasuredRendition[] | undefined;
  /** Why tracks could not be measured */
  error?: string | undefined;
  target?:
    | {
        /** The requested VMAF */
        vmaf: number;
        /** Of the frames, such as `1280x720` */
        size: string;
        /** The number of the chunk, from 0, of a video that was encoded in chunks */
        chunk?: number | undefined;
        /** The rate factor with which it was encoded */
        rate_factor: number;
        /**
         * Why the search ended: `met`, `best` (not even the best rate factor gives the VMAF), `worst` (the
         * worst one gives more), `no_gain` (better rate factors change nothing, as with a maximum
         * bitrate), `step` or `limit` (nothing nearer was found), `failed` (nothing could be measured)
         */
        ended: string;
        /** VMAF and bitrate of the samples with that rate factor; null if nothing was measured */
        samples: {
          number: number;
          /** Of all of them together */
          seconds: number;
          /** Number of measured frames */
          frames: number;
          mean: number;
          harmonic_mean: number;
          /** One percent of the measured frames have less */
          percentile_1: number;
          kbps: number;
        } | null;
        /** What was tried, in that order; `score` is what is compared with the VMAF. Empty for chunks */
        tried: {
          rate_factor: number;
          score: number;
          kbps: number;
        }[];
      }[]
    | undefined;
  /** The variants that a stream does without because of `drop_similar_variants` */
  dropped?:
    | {
        /** The name that its playlists would have, such as `720p` */
        track: string;
        /** Of its frames, in pixels */
        width: number;
        height: number;
        /** Its mean bitrate: of samples, or with `ultrafast` of the whole video */
        kbps: number;
        /** The next larger variant that the stream has */
        above: {
          track: string;
          kbps: number;
        };
      }[]
    | undefined;
};

/** The quality of one video track */
export type MeasuredRendition = {
  /** Of a stream the name of the rendition, such as `720p`, else `video` */
  track: string;
  /** Of its frames without padding, in pixels */
  width: number;
  height: number;
  /** How large source and video were shown when they were compared, in pixels */
  shown_width: number;
  shown_height: number;
  /** The model of VMAF: `vmaf_v0.6.1` for 1080p, `vmaf_4k_v0.6.1` for 2160p */
  model: string;
  /** Number of measured frames */
  frames: number;
  /** One of this many frames was measured */
  every: number;
  /** 0 to 100 */
  vmaf: {
    mean: number;
    harmonic_mean: number;
    /** One percent of the measured frames have less */
    percentile_1: number;
    min: number;
  };
  /** Of luma, in dB */
  psnr: {
    mean: number;
    harmonic_mean: number;
    /** One percent of the measured frames have less */
    percentile_1: number;
    min: number;
  };
  /** Of luma, up to 1 */
  ssim: {
    mean: number;
    harmonic_mean: number;
    /** One percent of the measured frames have less */
    percentile_1: number;
    min: number;
  };
  /** The quality of each interval, from the start of the video; never in notifications */
  series?:
    | {
        /** The length of an interval; 1 unless the video is long */
        interval_seconds: number;
        /** Means; null where nothing was measured */
        vmaf: (number | null)[];
        /** Means; null where nothing was measured */
        psnr: (number | null)[];
        /** Means; null where nothing was measured */
        ssim: (number | null)[];
      }
    | undefined;
};

/** The result of the input of a job */
export type InputPayload = {
  job_id: string;
  event: "input.transferred" | "input.failed";
  /** Whether this payload includes metadata */
  metadata: boolean;
  data: {
    status: "input.starting" | "input.transferring" | "input.transferred" | "input.failed";
    /** Why it failed, in one sentence */
    error?: string | undefined;
    /** Why it failed, as an error code */
    error_code?: string | undefined;
    /** Progress of the transfer */
    progress: "100%";
    metadata?: MediaMetadata | undefined;
  };
};

/** The result of one output of a job */
export type OutputPayload = {
  job_id: string;
  event: "output.completed" | "output.failed";
  /** Whether this payload includes metadata */
  metadata: boolean;
  data: {
    /** The key from the request, or the format by default */
    key: string;
    /** Audio outputs have the type video, too */
    type: "video" | "image" | "httpstream";
    status:
      | "video.waiting"
      | "video.queued"
      | "video.encoding"
      | "video.encoded"
      | "video.failed"
      | "video.skipped"
      | "video.aborted"
      | "image.waiting"
      | "image.queued"
      | "image.processing"
      | "image.created"
      | "image.failed"
      | "image.skipped"
      | "image.aborted"
      | "httpstream.waiting"
      | "httpstream.queued"
      | "httpstream.variants.encoding"
      | "httpstream.packaging"
      | "httpstream.packaged"
      | "httpstream.failed"
      | "httpstream.skipped"
      | "httpstream.aborted";
    /** Percentage of outputs that have ended, without skipped ones */
    progress: string;
    /** The URL of a finished video */
    url?: string | undefined;
    /**
     * The URLs of finished images, with a WebVTT file last, or the playlists and manifests of an HTTP
     * stream
     */
    urls?: string[] | PlaylistUrl[] | undefined;
    /** The URL of the WebVTT file of images; also the last one of `urls` */
    vtt_url?: string | undefined;
    /** Where an HTTP stream with `live_playlist` can be played while it is encoded */
    live?:
      | {
          /** The URL of the HLS playlist */
          hls?: string | undefined;
          /** The URL of the DASH manifest */
          dash?: string | undefined;
          /** How much of the stream can be played already, in seconds */
          seconds: number;
        }
      | undefined;
    /**
     * ffmpeg's name of the encoder of a finished video or audio, such as `libx264`; `copy` without
     * encoding
     */
    encoder?: string | undefined;
    /** Anything unusual about the encoding, in one sentence */
    note?: string | undefined;
    /** Why it failed, in one sentence */
    error?: string | undefined;
    /** Why it failed, as an error code */
    error_code?: string | undefined;
    metadata?: FileMetadata | HttpStreamMetadata | undefined;
  };
};

/** The end of a job */
export type JobPayload = {
  job_id: string;
  event: "job.completed" | "job.failed" | "job.aborted";
  /** Whether this payload includes metadata */
  metadata: boolean;
  data: {
    /** 14 letters and digits */
    id: string;
    /** YYYY-MM-DD HH:MM:SS +0000 */
    created_at: string;
    /** When the job ended; null until then */
    completed_at: string | null;
    status: "job.starting" | "job.completed" | "job.failed" | "job.aborted";
    /**
     * The work of a job that has not ended: `queued` while it waits for a node, `running` while a node
     * inspects or encodes, `storing` while only uploads are left
     */
    state?: "queued" | "running" | "storing" | undefined;
    /** When a node began to work on it; absent before that */
    started_at?: string | undefined;
    /** Progress of the job in percent; never decreases, and is 100% only at the end */
    progress: string;
    input: {
      status: "input.starting" | "input.transferring" | "input.transferred" | "input.failed";
      /** Why it failed, in one sentence */
      error?: string | undefined;
      /** Why it failed, as an error code */
      error_code?: string | undefined;
      metadata?: MediaMetadata | undefined;
    };
    outputs: {
      /** The key from the request, or the format by default */
      key: string;
      /** Audio outputs have the type video, too */
      type: "video" | "image" | "httpstream";
      /** The format from the request; in canonical form if the request has a `format` hash */
      format: string;
      status:
        | "video.waiting"
        | "video.queued"
        | "video.encoding"
        | "video.encoded"
        | "video.failed"
        | "video.skipped"
        | "video.aborted"
        | "image.waiting"
        | "image.queued"
        | "image.processing"
        | "image.created"
        | "image.failed"
        | "image.skipped"
        | "image.aborted"
        | "httpstream.waiting"
        | "httpstream.queued"
        | "httpstream.variants.encoding"
        | "httpstream.packaging"
        | "httpstream.packaged"
        | "httpstream.failed"
        | "httpstream.skipped"
        | "httpstream.aborted";
      /** The URL of a finished video */
      url?: string | undefined;
      /**
       * The URLs of finished images, with a WebVTT file last, or the playlists and manifests of an
       * HTTP stream
       */
      urls?: string[] | PlaylistUrl[] | undefined;
      /** The URL of the WebVTT file of images; also the last one of `urls` */
      vtt_url?: string | undefined;
      /** Where an HTTP stream with `live_playlist` can be played while it is encoded */
      live?:
        | {
            /** The URL of the HLS playlist */
            hls?: string | undefined;
            /** The URL of the DASH manifest */
            dash?: string | undefined;
            /** How much of the stream can be played already, in seconds */
            seconds: number;
          }
        | undefined;
      /**
       * ffmpeg's name of the encoder of a finished video or audio, such as `libx264`; `copy` without
       * encoding
       */
      encoder?: string | undefined;
      /** Anything unusual about the encoding, in one sentence */
      note?: string | undefined;
      /** Why it failed, in one sentence */
      error?: string | undefined;
      /** Why it failed, as an error code */
      error_code?: string | undefined;
      metadata?: FileMetadata | HttpStreamMetadata | undefined;
    }[];
    /**
     * The result of `settings.ultrafast`; absent without this setting and before the inspection of the
     * input
     */
    ultrafast?:
      | {
          /** Number of chunks; 0 if the input is encoded in one piece */
          chunks: number;
          /** Why the input is encoded in one piece, in one sentence */
          reason?: string | undefined;
        }
      | undefined;
    /**
     * What the job waits for, if no node of the last ten minutes has it, such as `a node with
     * libsvtav1`
     */
    waiting_for?: string | undefined;
    type: "job";
  };
};
