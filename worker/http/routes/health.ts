// GET /v2/health: whether the service works, and how many nodes are connected.
import { Hono } from "hono";
import { type Env, hubOf } from "../../env.ts";
import { answer } from "../problem.ts";

export const health = new Hono<{ Bindings: Env }>({ strict: false }).get("/", async (context) => {
  const { nodes } = await hubOf(context.env).stats();
  return answer(context, { status: "ok", nodes });
});
