// The MCP tools that plan and create jobs. A person confirms each job, unless the key is only for templates.
import { createHash } from "node:crypto";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import type { Copra, TemplateJob } from "../../client/index.ts";
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
      inputSchema: {
        job: Job,
        confirm: z
          .boolean()
          .optional()
          .describe("Only for clients that cannot ask a person: true after the person has agreed to the planned job"),
      },
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    async ({ job, confirm = false }) => {
      const failure = isOnlyForTemplates(scopes) ? null : await missingConsent(server, job, { confirm, planned });
      return failure ?? resultOf(copra.jobs.create(asRequest(job)));
    },
  );
}

/** The service validates the request. */
const asRequest = (job: Readonly<Record<string, unknown>>): TemplateJob => job as TemplateJob;

/** The owner of such a key has decided about its jobs by the templates. */
const isOnlyForTemplates = (scopes: readonly string[] | null): boolean =>
  scopes?.includes("templates:use") === true && !scopes.includes("jobs:create");

type Consent = { readonly confirm: boolean; readonly planned: ReadonlySet<string> };

/** Asks for a confirmation. Null if the job may be created. */
async function missingConsent(
  server: McpServer,
  job: Readonly<Record<string, unknown>>,
  { confirm, planned }: Consent,
): Promise<CallToolResult | null> {
  if (server.server.getClientCapabilities()?.elicitation) {
    const { action, content } = await server.server.elicitInput({
      message: `Create this job?\n${summaryOf(job)}`,
      requestedSchema: {
        type: "object",
        properties: { confirm: { type: "boolean", title: "Create the job", default: true } },
        required: ["confirm"],
      },
    });
    const isAccepted = action === "accept" && content?.confirm === true;
    return isAccepted ? null : failed("The person did not confirm the job: it was not created");
  }
  if (!planned.has(digestOf(job))) {
    return failed("Call plan_job with exactly this job first, show the plan to the person, and ask for a confirmation");
  }
  return confirm ? null : failed("Ask the person for a confirmation, then call create_job again with confirm: true");
}

/** Source and outputs, without secrets. */
function summaryOf({ template, input, outputs }: Readonly<Record<string, unknown>>): string {
  const url = typeof input === "object" && input !== null && "url" in input ? String(input.url) : "";
  const shown = url.replace(/^(https?:\/\/)[^/?#]*@/i, "$1").replace(/[?#].*/s, "");
  const formats = typeof outputs === "object" && outputs !== null ? Object.keys(outputs).join(", ") : "";
  const lines = [
    ...(template === undefined ? [] : [`template: ${String(template)}`]),
    ...(shown === "" ? [] : [`source: ${shown}`]),
    ...(formats === "" ? [] : [`outputs: ${formats}`]),
  ];
  return lines.join("\n").slice(0, 1000);
}

const digestOf = (job: object): string => createHash("sha256").update(JSON.stringify(job)).digest("hex");

function remember(planned: Set<string>, digest: string): void {
  planned.delete(digest);
  planned.add(digest);
  const [oldest] = planned;
  if (planned.size > MAX_PLANNED && oldest !== undefined) planned.delete(oldest);
}
