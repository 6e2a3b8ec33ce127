// A shared stack for all test files that neither kill nor configure it. It emulates Cloudflare's edge; other stacks run
// without the edge.
import type { TestProject } from "vitest/node";
import { startTestStack } from "../stack.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { api, apiKey, adminToken, nodeToken, s3, home, webhookSecret, stop } = await startTestStack({ isEdge: true });
  project.provide("stack", { description: { api, apiKey, adminToken, nodeToken, s3 }, home, webhookSecret });
  return () => stop();
}
