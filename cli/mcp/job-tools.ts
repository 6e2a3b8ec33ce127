// The MCP tools that read, cancel and retry jobs, and search the documentation.
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod";
import type { Copra } from "../../client/index.ts";
import { printableJson } from "../terminal/printable.ts";
import { Confirm, missingConsent } from "./consent.ts";
import type { DocsSearch } from "./docs-search.ts";
import { resultOf } from "./tool-result.ts";

const id = z.string().describe("The id of the job");
const READS = { readOnlyHint: true } as const;
const MAX_LISTED = 100;
/** Clients give up a call after 60 s by default. */
const MAX_WAIT_MS = 50_000;

export function registerJobTools(server: McpServer, copra: Copra, docs: DocsSearch): void {
  server.registerTool(
    "get_job",
    {
      title: "Read a job",
      description: "The status, progress, outputs and errors of a job",
      inputSchema: { id },
      annotations: READS,
    },
    (job) => resultOf(copra.jobs.get(job.id)),
  );
  server.registerTool(
    "wait_for_job",
    {
      title: "Wait for a job",
      description: "The job after its end, or after 50 seconds: then call it again",
      inputSchema: { id },
      annotations: READS,
    },
    (job) => resultOf(endOf(copra, job.id)),
  );
  server.registerTool(
    "list_jobs",
    {
      title: "List jobs",
      description: "Jobs of the account, newest first, with next_cursor for the next page",
      inputSchema: {
        status: z.enum(["job.starting", "job.completed", "job.failed", "job.aborted"]).optional(),
        query: z.string().optional().describe("Words in the id, source, output keys or paths of the job"),
        limit: z.int().min(1).max(MAX_LISTED).default(20),
        cursor: z.string().optional().describe("The next_cursor of the previous page"),
      },
      annotations: READS,
    },
    ({ status, query, limit, cursor }) =>
      resultOf(copra.jobs.page({ ...(status ? { status } : {}), ...(query ? { q: query } : {}), limit, cursor })),
  );
  server.registerTool(
    "cancel_job",
    {
      title: "Cancel a job",
      description: "Stops a job. Finished outputs stay in the storage",
      inputSchema: { id, confirm: Confirm },
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    async (job) =>
      (await missingConsent(server, `Cancel the job ${printableJson(job.id)}?`, job.confirm === true)) ??
      resultOf(copra.jobs.cancel(job.id)),
  );
  server.registerTool(
    "retry_job",
    {
      title: "Retry a job",
      description: "Restarts a failed or canceled job for the outputs that it did not finish",
      inputSchema: { id, confirm: Confirm },
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    async (job) =>
      (await missingConsent(server, `Retry the job ${printableJson(job.id)}?`, job.confirm === true)) ??
      resultOf(copra.jobs.retry(job.id)),
  );
  server.registerTool(
    "get_metadata",
    {
      title: "Read metadata",
      description: "ffprobe's data of the source and the outputs of a job",
      inputSchema: { id, key: z.string().optional().describe("`input`, or the key of an output; by default all") },
      annotations: READS,
    },
    (job) => resultOf(job.key === undefined ? copra.jobs.metadata(job.id) : copra.jobs.metadata(job.id, job.key)),
  );
  server.registerTool(
    "search_docs",
    {
      title: "Search the documentation",
      description: "Sections of the documentation that have most of the words, such as the parameters of outputs",
      inputSchema: { query: z.string().min(1).max(200) },
      annotations: READS,
    },
    ({ query }) => resultOf(docs.search(query)),
  );
}

async function endOf(copra: Copra, jobId: string): Promise<unknown> {
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  try {
    return await copra.jobs.wait(jobId, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    return copra.jobs.get(jobId);
  }
}
