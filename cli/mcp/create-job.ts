// The MCP tools that plan and create jobs. A person confirms each job, unless the key is only for templates.
import { createHash } from "node:crypto";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod";
import { isObject } from "#shared/request/parse-section.ts";
import type { Copra, NewProbe, TemplateJob } from "../../client/index.ts";
import { Confirm, missingConsent, summaryOf } from "./consent.ts";
import { failed, resultOf } from "./tool-result.ts";

const Job = z
  .record(z.string(), z.unknown())
  .describe("The body of POST /v2/jobs: input, storage, outputs, notification and settings; or template and vars");

/** Jobs that were planned, at most this many: the oldest are forgotten. */
const MAX_PLANNED = 100;

/** `scopes` of the API key; null: all requests are allowed. */
export function registerCreation(server: McpServer, copra: Copra, scopes: readonly string[] | null): void {
  const planned = new Set<string>();
  server.registerTool(
    "plan_job",
    {
      title: "Plan a job",
      description:
        "Validates a job and shows its outputs and ffmpeg commands. Creates nothing. For exact results, give the id of a " +
        "completed probe of the source.",
      inputSchema: { job: Job, probe: z.string().optional().describe("The id of a probe of the source") },
      annotations: { readOnlyHint: true },
    },
    async ({ job, probe }) => {
      const result = await resultOf(copra.jobs.plan(asRequest(job), probe === undefined ? {} : { probe }));
      if (!result.isError) remember(planned, digestOf(job));
      return result;
    },
  );
  server.registerTool(
    "create_job",
    {
      title: "Create a job",
      description:
        "Creates and starts a job. Plan it with plan_job first. A person is asked, if the client supports that.",
      inputSchema: { job: Job, confirm: Confirm },
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    async ({ job, confirm = false }) => {
      if (isOnlyForTemplates(scopes)) return resultOf(copra.jobs.create(asRequest(job)));
      const canAsk = server.server.getClientCapabilities()?.elicitation !== undefined;
      if (!canAsk && !planned.has(digestOf(job))) return failed(PLAN_FIRST);
      const failure = await missingConsent(server, `Create this job?\n${summaryOf(job)}`, confirm);
      return failure ?? resultOf(copra.jobs.create(asRequest(job)));
    },
  );
  server.registerTool(
    "probe_source",
    {
      title: "Read a source",
      description: "Reads the tracks, sizes and length of a source on a node. plan_job takes the id of the result",
      inputSchema: { input: z.record(z.string(), z.unknown()).describe("The `input` of a job"), confirm: Confirm },
      annotations: { readOnlyHint: true },
    },
    async ({ input, confirm = false }) => {
      const failure = await missingConsent(server, `Read this source?\n${summaryOf({ input })}`, confirm);
      return failure ?? resultOf(copra.probes.create({ input } as NewProbe, { waitSeconds: 30 }));
    },
  );
}

const PLAN_FIRST = "Call plan_job with exactly this job first, show the plan to the person, and ask for a confirmation";

/** The service validates the request. */
const asRequest = (job: Readonly<Record<string, unknown>>): TemplateJob => job as TemplateJob;

/** The owner of such a key has decided about its jobs by the templates. */
const isOnlyForTemplates = (scopes: readonly string[] | null): boolean =>
  scopes?.includes("templates:use") === true && !scopes.includes("jobs:create");

/** Returns the same digest for the same job, in whatever order its fields are. */
const digestOf = (job: object): string =>
  createHash("sha256")
    .update(JSON.stringify(job, (_, value: unknown) => (isObject(value) ? Object.fromEntries(sorted(value)) : value)))
    .digest("hex");

const sorted = (value: object): [string, unknown][] => Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));

function remember(planned: Set<string>, digest: string): void {
  planned.delete(digest);
  planned.add(digest);
  const [oldest] = planned;
  if (planned.size > MAX_PLANNED && oldest !== undefined) planned.delete(oldest);
}
