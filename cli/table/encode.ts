// Commands that create jobs.
import { OLD_SERVICES } from "#shared/convert/services.ts";
import type { ArgumentSpec, CommandSpec, OptionSpec } from "../command-spec.ts";

const SOURCE: ArgumentSpec = {
  name: "[source]",
  description:
    "File, http(s) URL, folder:name/path of the nodes, or s3://bucket/key with the keys of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  complete: "file",
};

const REQUEST: readonly OptionSpec[] = [
  {
    flags: "--to <format>",
    description:
      "Output: a format with optional parameters (mp4:720p, jpg:320x:number=5), or hls, hls-fmp4, dash, cmaf, thumbnails, sprite",
    repeat: true,
  },
  {
    flags: "--header <header>",
    description: 'Header for the host of the source\'s URL, such as "Authorization: Bearer …"',
    repeat: true,
  },
  { flags: "--start <seconds>", description: "Start of the part of the source to encode" },
  { flags: "--end <seconds>", description: "End of the part of the source to encode" },
  { flags: "-f, --file <job.json>", description: "The job, or a part of it; - is standard input", complete: "file" },
  {
    flags: "--storage <name>",
    description:
      "Saved storage, folder:name/path of the nodes, or a JSON file of a storage; by default the local system's bucket, else the service's storage for a day",
    complete: "file",
  },
  { flags: "--template <name>", description: "Template of the job, such as web, or web@3 for a version" },
  { flags: "--var <name=value>", description: "Value of a variable of the template", repeat: true },
  { flags: "--name <name>", description: "Start of the outputs' names, instead of the source's name" },
  {
    flags: "--variant <format>",
    description: "Rendition of hls, dash and cmaf, such as mp4:av1_720p::quality=4; by default 240p to 2160p",
    repeat: true,
  },
  {
    flags: "--drop-similar-variants",
    description: "Leave out variants that save few bits; all need a quality such as quality=vmaf93",
  },
  {
    flags: "--subtitles <track>",
    description:
      "Subtitle track of the source in streams: its number or language, speech for captions from speech, or all",
    repeat: true,
  },
  {
    flags: "--audio <track>",
    description: "Audio track of the source in streams: its number or language, or all; by default one",
    repeat: true,
  },
  {
    flags: "--burn <captions>",
    description: "Captions to draw into all outputs: a URL, a subtitle track of the source, or speech",
  },
  {
    flags: "--overlay <url[:place[:width]]>",
    description: "Image to draw into all outputs, such as https://example.com/logo.png:topright:12 (width in %)",
    repeat: true,
  },
  { flags: "--quality-report", description: "Measure the videos against their source: VMAF, PSNR and SSIM" },
  { flags: "--ultrafast", description: "Encode the video in chunks on many nodes" },
  { flags: "--queue <pool>", description: "Pool of nodes that works on the job" },
  { flags: "--require <label>", description: "Label that nodes must have, such as gpu or region:eu", repeat: true },
  { flags: "--priority <number>", description: "From -50 to 50: jobs with higher numbers start first" },
  { flags: "--start-at <time>", description: "Start of the work, such as 2026-12-01T02:00:00Z, up to 30 days ahead" },
  { flags: "--tag <name=value>", description: "Tag of the job, to find it by", repeat: true },
];

export const ENCODE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "encode",
    summary: "Encode a file or URL and wait for the results",
    arguments: [SOURCE],
    options: [
      ...REQUEST,
      { flags: "-o, --output <folder>", description: "Download the results into this folder", complete: "folder" },
      { flags: "--watch <folder>", description: "Encode each file that appears in this folder", complete: "folder" },
      { flags: "--dry-run", description: "Show the plan and start nothing" },
      { flags: "--no-wait", description: "End when the job is created" },
      {
        flags: "--timeout <duration>",
        description: "Stop waiting after this time, such as 90s or 2h; the job goes on",
      },
      { flags: "--cancel-on-interrupt", description: "Ctrl-C cancels the job, as in CI" },
      { flags: "--notify <url>", description: "URL for the job's webhooks" },
      { flags: "--idempotency-key <key>", description: "The same key and request give the same job for 24 hours" },
    ],
    examples: [
      "copra encode video.mov --to mp4:720p --to hls -o out",
      "copra encode https://example.com/video.mov --to mp4:1080p --storage bucket.json",
      "copra encode folder:media/in/video.mov --to mp4:1080p --storage folder:media/out",
      "copra encode talk.mov --start 12.5 --end 3600 --to mp4:720p",
      "copra encode -f job.json --json",
      "copra encode video.mov --template web --var id=42",
      "copra encode --watch inbox --to mp4:720p -o done",
    ],
    load: async () => (await import("../encode/encode.ts")).encode,
  },
  {
    name: "batch",
    summary: "Create the jobs of a file, without waiting for them",
    arguments: [{ name: "<file>", description: "A list of jobs, or {template, defaults, jobs}", complete: "file" }],
    options: [
      { flags: "--template <name>", description: "Template of jobs that name no other" },
      { flags: "--dry-run", description: "Only check the jobs" },
      { flags: "--idempotency-key <key>", description: "The same key and file give the same jobs for 24 hours" },
    ],
    examples: ["copra batch jobs.json --template web", "copra batch jobs.json --dry-run"],
    load: async () => (await import("../jobs/batch.ts")).batch,
  },
  {
    name: "plan",
    summary: "Show the plan of a job: outputs and ffmpeg commands",
    arguments: [SOURCE],
    options: REQUEST,
    examples: ["copra plan video.mov --to mp4:720p --to hls"],
    load: async () => (await import("../encode/plan.ts")).plan,
  },
  {
    name: "probe",
    summary: "Show the contents of a source: tracks, codecs, size, length",
    arguments: [{ ...SOURCE, name: "<source>" }],
    options: REQUEST.filter(({ flags }) => /^--(?:queue|require|header) /.test(flags)),
    examples: ["copra probe https://example.com/video.mov", "copra probe s3://bucket/video.mov --json"],
    load: async () => (await import("../jobs/probe.ts")).probe,
  },
  {
    name: "convert",
    summary: "Convert a request of Coconut, Zencoder or MediaConvert to a job",
    arguments: [{ name: "[file]", description: "The old request; standard input by default", complete: "file" }],
    options: [
      {
        flags: "--from <service>",
        description: "The service that the request is for; detected by default",
        choices: OLD_SERVICES,
      },
    ],
    examples: ["copra convert zencoder.json", "copra convert --from mediaconvert old.json --json"],
    load: async () => (await import("../convert/convert.ts")).convert,
  },
];
