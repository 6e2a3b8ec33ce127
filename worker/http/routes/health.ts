// GET /v2/health: whether the service works, and how many nodes are connected. Open to anyone.
import { Hono } from "hono";
import { type Env, hubOf } from "../../env.ts";
import type { Health } from "../response-schemas.ts";
import { answer } from "../responses/problem.ts";

/** Anyone may ask, and there is one hub: an answer of it serves all who ask within this time. */
const KEEP_MS = 1000;
let last: { at: number; nodes: number } | null = null;

export const health = new Hono<{ Bindings: Env }>({ strict: false }).get("/", async (context) => {
  const now = Date.now();
  if (!last || now - last.at > KEEP_MS) last = { at: now, nodes: (await hubOf(context.env).stats()).nodes };
  return answer(context, { status: "ok", nodes: last.nodes } satisfies Health);
});
