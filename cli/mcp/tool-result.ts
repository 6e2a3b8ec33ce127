// Results of MCP tools.
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { CopraError } from "../../client/index.ts";

const text = (value: string, isError = false): CallToolResult => ({
  content: [{ type: "text", text: value }],
  ...(isError ? { isError } : {}),
});

/** A failure that the assistant reads, and may correct. */
export const failed = (message: string): CallToolResult => text(message, true);

/** The result of a request in JSON. An error of the service is a result with its message, code and field. */
export async function resultOf(work: Promise<unknown>): Promise<CallToolResult> {
  try {
    return text(JSON.stringify(await work, null, 1));
  } catch (error) {
    if (!(error instanceof CopraError)) return failed(error instanceof Error ? error.message : String(error));
    return failed(`${error.message} (${error.code})`);
  }
}
