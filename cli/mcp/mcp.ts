// copra mcp: a server of the Model Context Protocol on standard input and output, for assistants that work with jobs.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { VERSION } from "#shared/version.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { registerCreation } from "./create-job.ts";
import { DocsSearch } from "./docs-search.ts";
import { registerJobTools } from "./job-tools.ts";

const INSTRUCTIONS =
  "Copra encodes media files. Search the documentation for the fields of a job, plan the job with plan_job, then create " +
  "it with create_job. Follow it with wait_for_job until its status is job.completed, job.failed or job.aborted.";

/** Serves until the client closes standard input, or until Ctrl-C. */
export const mcp: Run = async (context) => {
  const { copra, target } = await clientOf(context);
  const { scopes = null } = await copra.session({ signal: context.signal });
  const server = new McpServer({ name: "copra", version: VERSION }, { instructions: INSTRUCTIONS });
  registerCreation(server, copra, scopes);
  registerJobTools(server, copra, new DocsSearch(target.url));
  const transport = new StdioServerTransport(context.input, process.stdout);
  const ended = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
    context.input.once("end", resolve);
    context.signal.addEventListener("abort", () => resolve());
  });
  await server.connect(transport);
  context.output.words(`MCP server for ${target.url}, on standard input and output`);
  await ended;
  await server.close();
};
