// Examples of responses.

import type { ProbeView } from "#shared/api/probe-responses.ts";
import type { JobView } from "#shared/job/job-view.ts";
import type { HttpStreamMetadata } from "#shared/job/metadata.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { factExamples } from "./job-facts.ts";
import { listResponses } from "./list-responses.ts";
import { SESSION_EXAMPLES } from "./session.ts";
import { TEMPLATE_EXAMPLES } from "./templates.ts";

export const JOB_ID = "3clA7G2GY8bXR5";
const DATES = { created_at: "2026-11-21 05:23:27 +0000", completed_at: "2026-11-21 05:23:33 +0000" };
const SOURCE = "https://media.example.com/video.mov";
const FOLDER = "https://my-bucket.s3.eu-west-1.amazonaws.com/video";

const ALERT = {
  name: "full-disk",
  when: "disk.low",
  free_bytes: 20_000_000_000,
  quiet_minutes: 60,
  to: { type: "slack", receiver: "hooks.slack.com" },
  firing: ["Node default/attic: 3.2 GB free on its disk"],
  last_sent_at: DATES.created_at,
  last_error: null,
};

export const STARTING_JOB: JobView = {
  id: JOB_ID,
  created_at: DATES.created_at,
  completed_at: null,
  ends_at: null,
  status: "job.starting",
  progress: "0%",
  input: { status: "input.starting", source: SOURCE },
  outputs: [
    { key: "mp4:240p", type: "video", format: "mp4:240p", status: "video.waiting" },
    { key: "mp4:1080p", type: "video", format: "mp4:1080p", status: "video.waiting" },
    { key: "jpg:320x", type: "image", format: "jpg:320x", status: "image.waiting" },
  ],
};

export const RUNNING_JOB: JobView = {
  ...STARTING_JOB,
  ends_at: "2026-11-21 05:24:10 +0000",
  progress: "41%",
  input: { status: "input.transferred", source: SOURCE },
  outputs: [
    { key: "mp4:240p", type: "video", format: "mp4:240p", status: "video.encoding", progress: "62%" },
    { key: "mp4:1080p", type: "video", format: "mp4:1080p", status: "video.skipped" },
    { key: "jpg:320x", type: "image", format: "jpg:320x", status: "image.queued" },
  ],
};

export const COMPLETED_JOB: JobView = {
  id: JOB_ID,
  ...DATES,
  ends_at: null,
  status: "job.completed",
  progress: "100%",
  input: { status: "input.transferred", source: SOURCE },
  outputs: [
    { key: "mp4:240p", type: "video", format: "mp4:240p", url: `${FOLDER}/240p.mp4`, status: "video.encoded" },
    { key: "mp4:1080p", type: "video", format: "mp4:1080p", status: "video.skipped" },
    {
      key: "jpg:320x",
      type: "image",
      format: "jpg:320x",
      urls: [1, 2, 3, 4, 5].map((ordinal) => `${FOLDER}/image-0${ordinal}.jpg`),
      status: "image.created",
    },
  ],
};

export const ABORTED_JOB: JobView = {
  ...RUNNING_JOB,
  completed_at: DATES.completed_at,
  status: "job.aborted",
  progress: "100%",
  outputs: RUNNING_JOB.outputs.map(({ progress: _, ...output }) =>
    output.status.endsWith(".skipped")
      ? output
      : {
          ...output,
          status: output.type === "image" ? "image.aborted" : "video.aborted",
          error: "The job was canceled",
          error_code: "cancelled",
        },
  ),
};

export const METADATA: MediaProbe = {
  streams: [
    {
      index: 0,
      codec_name: "h264",
      codec_type: "video",
      profile: "High",
      width: 426,
      height: 240,
      pix_fmt: "yuv420p",
      r_frame_rate: "30/1",
      avg_frame_rate: "30/1",
      duration: "10.000000",
      nb_frames: "300",
    },
    { index: 1, codec_name: "aac", codec_type: "audio", sample_rate: "48000", channels: 2, bit_rate: "128000" },
  ],
  format: {
    filename: `${FOLDER}/240p.mp4`,
    nb_streams: 2,
    format_name: "mov,mp4,m4a,3gp,3g2,mj2",
    duration: "10.000000",
    size: "806912",
  },
};

/** Metadata of a stream whose key the service created. */
const HLS = {
  streams: [{ index: 0, codec_name: "h264", codec_type: "video", profile: "High", width: 1280, height: 720 }],
  format: { filename: `${FOLDER}/hls/index.m3u8`, format_name: "hls", duration: "10.000000" },
};
const STREAM_METADATA: HttpStreamMetadata = {
  ...HLS,
  hls: {
    ...HLS,
    encryption: {
      method: "AES-128",
      key: "5d41402abc4b2a76b9719d911017c592",
      key_uri: "https://keys.example.com/video",
    },
  },
  dash: {
    streams: [{ index: 0, codec_name: "hevc", codec_type: "video", profile: "Main", width: 1920, height: 1080 }],
    format: { filename: `${FOLDER}/dash/index.mpd`, format_name: "dash", duration: "10.000000" },
  },
};

const KEY = { id: "9f86d081884c", created_at: DATES.created_at, revoked_at: null };
const LIMITS = { max_unfinished_jobs: null, max_running: null, max_priority: null, weight: 1 };
const BOUND = { pool: "default", labels: ["region:eu"] };
const LIMITED = { name: "reports", last_used_at: null, scopes: ["jobs:read"], expires_at: "2027-01-31 00:00:00 +0000" };
const MASKED_KEY = "k-6wUx0Ga1oTqVJ3yPzB2nR8dKfLcE5sHmQ9iXgYt4ZbA";

const NODE = {
  id: "attic",
  state: "ready",
  not_ready: [],
  pool: "default",
  labels: ["gpu", "region:eu"],
  region: "eu",
  spot: false,
  host: "attic.example.com",
  version: "0.1.0",
  protocol: 3,
  ffmpeg: "8.1.2",
  cpus: 16,
  hardware: "nvenc",
  disk: { free_bytes: 750_000_000_000, total_bytes: 1_000_000_000_000 },
  slots: { inspect: { free: 31, running: 1 }, encode: { free: 1, running: 2 } },
  leases: 3,
  score: 0.1,
  connected_at: DATES.created_at,
  last_seen_at: null,
  lost_leases: [],
  hub: "hub:default:0",
};
const DEMAND = {
  encode: { wanted: 8, running: 3, waiting: 5, free: 0, oldest_wait_seconds: 42.5, mean_task_seconds: 63.1 },
  inspect: { wanted: 1, running: 1, waiting: 0, free: 31, oldest_wait_seconds: 0, mean_task_seconds: 8.2 },
};

const USED = {
  jobs: { completed: 41, failed: 1, cancelled: 0 },
  output_seconds: { audio: 0, sd: 5120.4, hd: 10_240.8, uhd: 0 },
  node_seconds: 2304.127,
  stored_bytes: 5_034_112_004,
};

export const QUEUED_PROBE: ProbeView = {
  id: JOB_ID,
  status: "queued",
  created_at: DATES.created_at,
  completed_at: null,
  source: SOURCE,
};

/** An example of each response, by the id of its schema. The tests parse them. */
export const RESPONSE_EXAMPLES = {
  Job: COMPLETED_JOB,
  JobList: { jobs: [STARTING_JOB], next_cursor: `1795238607000-${JOB_ID}` },
  Probe: { ...QUEUED_PROBE, status: "completed", completed_at: DATES.completed_at, metadata: METADATA },
  ...listResponses(JOB_ID),
  ...factExamples(JOB_ID),
  ...SESSION_EXAMPLES,
  ...TEMPLATE_EXAMPLES,
  DryRunPlan: {
    dry_run: true,
    assumed_source: { width: 1920, height: 1080, fps: 30, duration: 60, rotation: 0, audio: true },
    input: { kind: "url", url: "https://media.example.com/video.mov" },
    storage: { kind: "s3", bucket: "my-bucket", region: "eu-west-1" },
    outputs: [
      {
        key: "mp4:240p",
        type: "video",
        format: "mp4:0x240_500k",
        path: "video/240p.mp4",
        url: `${FOLDER}/240p.mp4`,
        spec: { container: "mp4", video: { codec: "h264" }, audio: { codec: "aac" } },
        expected_size: { bytes: 4_710_000, basis: "bitrate" },
      },
      {
        key: "httpstream",
        type: "httpstream",
        format: "httpstream",
        urls: [
          { format: "hls", url: `${FOLDER}/hls/master.m3u8` },
          { format: "dash", url: `${FOLDER}/dash/master.mpd` },
        ],
        renditions: [
          {
            video: "720p",
            audio: "audio-128k",
            width: 1280,
            height: 720,
            fps: 30,
            packages: ["hls", "dash"],
            variant: 1,
          },
          { video: null, audio: "audio-64k", packages: ["hls", "dash"], variant: 0 },
        ],
        spec: { hls: { path: "video/hls" }, dash: { path: "video/dash", hls_fmp4: false }, segment_duration_ms: 6000 },
      },
    ],
    commands: [{ outputs: ["mp4:240p", "httpstream"], argv: ["-y", "-nostdin", "-i", "file:/source"] }],
    refusals: [],
  },
  NotificationLog: {
    job_id: JOB_ID,
    notifications: [
      {
        id: `msg_${JOB_ID}_1`,
        event: "job.completed",
        status: "due",
        attempts: 1,
        created_at: "2026-11-21 05:23:33 +0000",
        next_attempt_at: "2026-11-21 05:23:38 +0000",
        last_result: "HTTP 503",
      },
    ],
  },
  Delivery: {
    id: `msg_${JOB_ID}_1`,
    event: "job.completed",
    status: "due",
    attempts: 10,
    created_at: "2026-11-21 05:23:33 +0000",
    next_attempt_at: "2026-11-21 09:00:00 +0000",
    last_result: "HTTP 503",
  },
  EndpointResult: { delivered: true, status: 204, seconds: 0.184 },
  JobMetadata: {
    job_id: JOB_ID,
    metadata: { input: METADATA, outputs: [{ "mp4:240p": METADATA }, { httpstream: STREAM_METADATA }] },
  },
  KeyMetadata: { job_id: JOB_ID, metadata: { "mp4:240p": METADATA } },
  FontList: { fonts: ["Noto Sans", "Noto Sans Arabic", "Noto Sans JP"] },
  Usage: { from: "2026-11-21", to: "2026-11-21", days: [{ day: "2026-11-21", ...USED }], total: USED },
  AuditList: {
    entries: [
      {
        id: "V7pQ2mXc0LrT9d",
        created_at: DATES.completed_at,
        account: "Q2hhbmdlTWVOb3",
        actor: KEY.id,
        actor_name: LIMITED.name,
        ip: "203.0.113.7",
        action: "cancelJob",
        object: `jobs/${JOB_ID}`,
        status: 200,
      },
    ],
    next_cursor: null,
  },
  Health: { status: "ok", nodes: 3 },
  Ready: { status: "ready", nodes: 3 },
  NewAccount: {
    account_id: "Q2hhbmdlTWVOb3",
    api_key: MASKED_KEY,
    webhook_secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  },
  AccountList: { accounts: [{ id: "Q2hhbmdlTWVOb3", name: "me", created_at: DATES.created_at, ...LIMITS }] },
  NewKey: { id: KEY.id, api_key: MASKED_KEY, ...LIMITED },
  KeyList: { keys: [{ ...KEY, ...LIMITED }] },
  NewNodeToken: { id: KEY.id, node_token: "n-6wUx0Ga1oTqVJ3yPzB2nR8dKfLcE5sHmQ9iXgYt4ZbA", ...BOUND },
  NodeTokenList: { node_tokens: [{ ...KEY, name: "rack", ...BOUND }] },
  Revoked: { id: KEY.id, revoked: true },
  AccountLimits: { account_id: "Q2hhbmdlTWVOb3", ...LIMITS, max_unfinished_jobs: 100 },
  RotatedSecret: {
    account_id: "Q2hhbmdlTWVOb3",
    webhook_secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=",
    previous_until: "2026-11-22 05:23:27 +0000",
  },
  NodeList: { nodes: [NODE] },
  NodeDetails: {
    ...NODE,
    running: [{ lease: `${JOB_ID}.encode.1`, class: "encode" }],
    capabilities: {
      ffmpegVersion: "8.1.2",
      encoders: ["libx264", "aac"],
      cpus: 16,
      filters: ["scale"],
      muxers: ["mp4"],
      hardware: { name: "nvenc", path: null, encoders: ["h264_nvenc", "av1_nvenc"] },
    },
  },
  NodeHistory: {
    id: NODE.id,
    step_seconds: 900,
    steps: [
      { at: "2026-11-21T05:15:00.000Z", busy: 1.8, speed: 3.41 },
      { at: "2026-11-21T05:30:00.000Z", busy: 2, speed: 3.9 },
    ],
  },
  Autoscale: { ...DEMAND, pools: { default: DEMAND } },
  Alert: ALERT,
  AlertList: { alerts: [ALERT] },
  Resealed: { resealed: 12, failed: [], next_cursor: "jobs:" },
  Error: {
    message: "Unknown container `mp5`; allowed: mp4, webm and others",
    error_code: "output_format_not_valid",
    status: "error",
  },
};
