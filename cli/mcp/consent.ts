// The confirmation of a tool call by a person: the client asks, or the assistant has asked before.
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { hideSecrets } from "#shared/template/template-secrets.ts";
import { printableJson } from "../terminal/printable.ts";
import { failed } from "./tool-result.ts";

export const Confirm = z
  .boolean()
  .optional()
  .describe("Only for clients that cannot ask a person: true after the person has agreed to exactly this");

const MAX_CHARS = 200;
/** Sections of a job that decide about its source, files, storage and receivers. */
const SECTIONS = ["template", "vars", "input", "outputs", "storage", "notification"];

/** Asks a person. Null if the person agrees, or if the client cannot ask and `confirm` is true. */
export async function missingConsent(
  { server }: McpServer,
  question: string,
  confirm: boolean,
): Promise<CallToolResult | null> {
  if (!server.getClientCapabilities()?.elicitation) {
    return confirm ? null : failed("Ask the person for a confirmation, then call the tool again with confirm: true");
  }
  const { action, content } = await server.elicitInput({
    message: question,
    requestedSchema: {
      type: "object",
      properties: { confirm: { type: "boolean", title: "Confirm", default: true } },
      required: ["confirm"],
    },
  });
  const isAccepted = action === "accept" && content?.confirm === true;
  return isAccepted ? null : failed("The person did not confirm: nothing was done");
}

/**
 * The sections of a request in JSON, a line each, without secrets: no value can look like another line. Long texts are
 * shortened, so that none hides what follows.
 */
export function summaryOf(request: Readonly<Record<string, unknown>>): string {
  const shorten = (_: string, value: unknown): unknown =>
    typeof value === "string" && value.length > MAX_CHARS ? `${value.slice(0, MAX_CHARS)}…` : value;
  return SECTIONS.filter((name) => request[name] !== undefined)
    .map((name) => `${name}: ${printableJson(JSON.parse(JSON.stringify(hideSecrets(request[name]).value, shorten)))}`)
    .join("\n");
}
