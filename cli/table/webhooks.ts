// copra webhooks.
import { NOTIFICATION_EVENTS } from "#shared/job/notification.ts";
import type { ArgumentSpec, CommandSpec } from "../command-spec.ts";

const JOB: ArgumentSpec = { name: "<job>", description: "The job's id" };
const FORWARD = "URL on this machine, such as localhost:3000/hook";

export const WEBHOOK_COMMANDS: readonly CommandSpec[] = [
  {
    name: "webhooks listen",
    summary: "Receive the webhooks of all jobs, and forward them to a URL on this machine",
    options: [
      { flags: "--forward-to <url>", description: FORWARD },
      { flags: "--from-now", description: "Skip the events since the last run" },
      { flags: "--print-secret", description: "Only print the secret that signs forwarded webhooks" },
      { flags: "--max <number>", description: "End after this many webhooks" },
    ],
    examples: ["copra webhooks listen --forward-to localhost:3000/hook"],
    load: async () => (await import("../webhooks/listen.ts")).listen,
  },
  {
    name: "webhooks ls",
    summary: "List the notifications of a job",
    arguments: [JOB],
    load: async () => (await import("../webhooks/log.ts")).listNotifications,
  },
  {
    name: "webhooks replay",
    summary: "Send notifications of a job again",
    arguments: [JOB, { name: "[id]", description: "One notification; all by default" }],
    options: [{ flags: "--to <url>", description: "Another URL than the job's" }],
    load: async () => (await import("../webhooks/log.ts")).replay,
  },
  {
    name: "webhooks trigger",
    summary: "Send an example of an event to a URL on this machine, signed with the secret of listen",
    arguments: [{ name: "<event>", description: "The event", choices: NOTIFICATION_EVENTS }],
    options: [{ flags: "--forward-to <url>", description: FORWARD }],
    examples: ["copra webhooks trigger job.completed --forward-to localhost:3000/hook"],
    load: async () => (await import("../webhooks/trigger.ts")).trigger,
  },
  {
    name: "webhooks test",
    summary: "Let the service send a signed test event to a URL",
    arguments: [{ name: "<url>", description: "A public URL" }],
    load: async () => (await import("../webhooks/log.ts")).testEndpoint,
  },
  {
    name: "webhooks rotate-secret",
    summary: "Create a new webhook secret of this account; the old secret also signs for 24 hours",
    load: async () => (await import("../webhooks/log.ts")).rotateSecret,
  },
];
