// copra jobs, copra uploads, copra upload-links and copra usage.
import type { ArgumentSpec, CommandSpec, OptionSpec } from "../command-spec.ts";

const ID: ArgumentSpec = { name: "<id>", description: "The job's id" };
const IDS: ArgumentSpec = { name: "[ids...]", description: "The jobs' ids" };

const FILTER: readonly OptionSpec[] = [
  { flags: "--status <list>", description: "starting, completed, failed or aborted; several with commas" },
  { flags: "-q, --query <text>", description: "Part of the id, or of the path of the input or an output" },
  { flags: "--since <time>", description: "Created after this: 2h (ago), 2026-11-22 or 2026-11-22T10:00:00Z" },
  { flags: "--until <time>", description: "Created before this" },
  { flags: "--tag <name=value>", description: "With this tag; with several, all of them", repeat: true },
];

const BULK: readonly OptionSpec[] = [
  ...FILTER,
  { flags: "-y, --yes", description: "Skip the confirmation when a filter selects the jobs" },
];

const facts = (name: string, summary: string, load: CommandSpec["load"]): CommandSpec => ({
  name: `jobs ${name}`,
  summary,
  arguments: [ID],
  load,
});

const lists = () => import("../jobs/list.ts");
const changes = () => import("../jobs/change.ts");
const show = () => import("../jobs/show.ts");
const details = () => import("../jobs/facts.ts");

export const JOB_COMMANDS: readonly CommandSpec[] = [
  {
    name: "jobs ls",
    summary: "List jobs, newest first",
    options: [
      ...FILTER,
      { flags: "--sort <order>", description: "created, ended (last first) or took (longest first)" },
      { flags: "-n, --limit <number>", description: "At most this many jobs; 20 by default" },
      { flags: "--all", description: "All jobs" },
    ],
    examples: [
      "copra jobs ls --status failed --since 2h",
      "copra jobs ls -q video.mov --json",
      "copra jobs ls --tag tenant=a",
      "copra jobs ls --sort took --since 24h",
    ],
    load: async () => (await lists()).listJobs,
  },
  {
    name: "jobs count",
    summary: "Count jobs by status",
    options: FILTER.filter(({ flags }) => !flags.startsWith("--status")),
    load: async () => (await lists()).countJobs,
  },
  facts("show", "Show a job with its outputs", async () => (await show()).showJob),
  {
    name: "jobs follow",
    summary: "Show a job's progress until it ends",
    arguments: [ID],
    options: [
      { flags: "--timeout <duration>", description: "Stop waiting after this time; the job goes on" },
      { flags: "-o, --output <folder>", description: "Download the results into this folder", complete: "folder" },
    ],
    load: async () => (await import("../jobs/follow.ts")).followJob,
  },
  {
    name: "jobs cancel",
    summary: "Cancel jobs",
    arguments: [IDS],
    options: BULK,
    examples: ["copra jobs cancel 3clA7G2GY8bXR5", "copra jobs cancel --since 1h -q inbox/ --yes"],
    load: async () => (await changes()).cancelJobs,
  },
  {
    name: "jobs front",
    summary: "Move waiting jobs before the account's other jobs: give them the highest priority, or another priority",
    arguments: [{ name: "<ids...>", description: "The jobs' ids" }],
    options: [{ flags: "--priority <number>", description: "From -50 to 50; 50 by default" }],
    examples: ["copra jobs front 3clA7G2GY8bXR5", "copra jobs front 3clA7G2GY8bXR5 --priority -10"],
    load: async () => (await changes()).moveJobs,
  },
  {
    name: "jobs retry",
    summary: "Restart ended jobs for the outputs that failed",
    arguments: [IDS],
    options: BULK,
    examples: ["copra jobs retry --status failed --since 2h --yes"],
    load: async () => (await changes()).retryJobs,
  },
  facts("tasks", "Show a job's tasks, chunks and attempts", async () => (await details()).jobTasks),
  facts(
    "log",
    "Show the running ffmpeg commands of a job, and the end of their output",
    async () => (await details()).jobLog,
  ),
  facts("commands", "Show the ffmpeg commands that ran for a job", async () => (await details()).jobCommands),
  facts("request", "Show a job's request, to edit and send again", async () => (await details()).jobRequest),
  facts("metadata", "Show ffprobe's data of a job's input and outputs", async () => (await details()).jobMetadata),
  {
    name: "jobs open",
    summary: "Open a job's first output in the browser",
    arguments: [ID],
    options: [
      { flags: "--output <key>", description: "Another output" },
      { flags: "--print", description: "Only print its URL" },
    ],
    load: async () => (await show()).openJob,
  },
  {
    name: "uploads ls",
    summary: "List uploads, and their stored parts",
    load: async () => (await import("../jobs/uploads.ts")).listUploads,
  },
  {
    name: "uploads rm",
    summary: "Delete uploads",
    arguments: [{ name: "<ids...>", description: "The uploads' ids" }],
    load: async () => (await import("../jobs/uploads.ts")).deleteUploads,
  },
  {
    name: "upload-links create",
    summary: "Create a link with which a browser uploads one file",
    options: [
      { flags: "--max-size <size>", description: "Maximum size of the file, such as 5GB; required" },
      { flags: "--expires <time>", description: "Time until the link expires, such as 2h; 1h by default" },
      { flags: "--origin <origin>", description: "Origin of a page that may use the link", repeat: true },
      { flags: "--name <name>", description: "Name of the file; by default the browser's" },
      { flags: "--tag <name=value>", description: "Tag of the link and its job", repeat: true },
      { flags: "--job <file>", description: "JSON file with a job without its input", complete: "file" },
      { flags: "--webhook <url>", description: "URL that receives upload.completed and upload.expired" },
    ],
    examples: ["copra upload-links create --max-size 5GB --origin https://app.example.com"],
    load: async () => (await import("../jobs/upload-links.ts")).createUploadLink,
  },
  {
    name: "upload-links ls",
    summary: "List upload links",
    load: async () => (await import("../jobs/upload-links.ts")).listUploadLinks,
  },
  {
    name: "upload-links show",
    summary: "Show an upload link, its upload and its job",
    arguments: [{ name: "<id>", description: "The link's id" }],
    load: async () => (await import("../jobs/upload-links.ts")).showUploadLink,
  },
  {
    name: "upload-links rm",
    summary: "Revoke upload links, and remove their unfinished files",
    arguments: [{ name: "<ids...>", description: "The links' ids" }],
    load: async () => (await import("../jobs/upload-links.ts")).revokeUploadLinks,
  },
  {
    name: "usage",
    summary: "Show jobs, output time, node time and stored bytes by day",
    options: [
      { flags: "--from <date>", description: "First day, such as 2026-11-01; 30 days ago by default" },
      { flags: "--to <date>", description: "Last day; today by default" },
      { flags: "--by <tag>", description: "By the values of a tag, such as tag.tenant, instead of by day" },
    ],
    load: async () => (await import("../jobs/usage.ts")).showUsage,
  },
];
