// Checks of `doctor` that need the service.
import { VERSION } from "#shared/version.ts";
import { CopraAdmin } from "../../client/admin.ts";
import { Copra, type NodeList } from "../../client/index.ts";
import { namedFetch } from "../connection/named-fetch.ts";
import type { Target } from "../connection/target.ts";
import { type Context, targetOf } from "../context.ts";
import { endOf } from "../exit.ts";
import type { Check } from "./check.ts";

const LIMIT_MS = 10_000;
/** Maximum clock difference. Webhook receivers and storages reject signatures if clocks differ by some minutes. */
const MAX_SKEW_S = 60;
const LOW_DISK_BYTES = 10e9;

export async function serviceChecks(context: Context): Promise<Check[]> {
  let target: Target;
  try {
    target = await targetOf(context);
  } catch (error) {
    return [{ name: "service", result: "missing", detail: endOf(error).message }];
  }
  const { url, key, adminToken, source } = target;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(LIMIT_MS)]);
  const reached = await reach(url, signal, context.now);
  const name = `${url} (${source})`;
  if ("error" in reached) {
    return [
      {
        name: "service",
        result: "failed",
        detail: `${name}: ${reached.error}`,
        advice: "Check the URL, and that the service runs",
      },
    ];
  }
  return [
    { name: "service", result: "ok", detail: name },
    clockCheck(reached.skewSeconds),
    nodesCheck(reached.nodes),
    await readyCheck(url, signal),
    ...(key === null
      ? []
      : [
          await credentialCheck("API key", () =>
            new Copra({ url, key, retries: 0, fetch: namedFetch }).jobs.page({ limit: 1 }, { signal }),
          ),
        ]),
    ...(adminToken === null
      ? []
      : await operatorChecks(new CopraAdmin({ url, token: adminToken, retries: 0, fetch: namedFetch }), signal)),
  ];
}

async function operatorChecks(admin: CopraAdmin, signal: AbortSignal): Promise<Check[]> {
  let nodes: NodeList["nodes"] = [];
  const token = await credentialCheck("admin token", async () => {
    nodes = await admin.nodes.list({ signal });
  });
  return [token, ...(token.result === "ok" ? [fleetCheck(nodes)] : [])];
}

/** Counts the nodes that get no work, or need an update or space. */
export function fleetCheck(nodes: NodeList["nodes"], version = VERSION): Check {
  const troubled = nodes.filter(
    ({ state, version: nodeVersion, disk }) =>
      state === "not_ready" ||
      state === "quarantined" ||
      (nodeVersion !== null && nodeVersion !== version) ||
      (disk !== null && disk.free_bytes < LOW_DISK_BYTES),
  );
  const detail = `${nodes.length} nodes, ${troubled.length} with problems`;
  if (troubled.length === 0) return { name: "fleet", result: "ok", detail };
  return { name: "fleet", result: "missing", detail, advice: "copra nodes ls has their states, versions and disks" };
}

type Reached = { readonly skewSeconds: number | null; readonly nodes: number | null } | { readonly error: string };

async function reach(url: string, signal: AbortSignal, now: () => number): Promise<Reached> {
  try {
    const startedAt = now();
    const response = await namedFetch(`${url}/v2/health`, { signal });
    if (!response.ok) return { error: `HTTP ${response.status}` };
    const date = Date.parse(response.headers.get("date") ?? "");
    const body: unknown = await response.json();
    const nodes =
      typeof body === "object" && body !== null && "nodes" in body && typeof body.nodes === "number"
        ? body.nodes
        : null;
    // The header has whole seconds and was written between request and response: add 500 ms, and compare with the
    // middle.
    const skewSeconds = Number.isNaN(date) ? null : (date + 500 - (startedAt + now()) / 2) / 1000;
    return { skewSeconds, nodes };
  } catch (error) {
    return { error: endOf(error).message };
  }
}

export function clockCheck(skewSeconds: number | null): Check {
  if (skewSeconds === null) return { name: "clock", result: "missing", detail: "the service sends no date" };
  const difference = `${Math.abs(Math.round(skewSeconds))} s ${skewSeconds < 0 ? "ahead of" : "behind"} the service`;
  return Math.abs(skewSeconds) > MAX_SKEW_S
    ? {
        name: "clock",
        result: "failed",
        detail: `This machine is ${difference}`,
        advice: "Set its clock, for example with NTP",
      }
    : { name: "clock", result: "ok", detail: "agrees with the service" };
}

async function readyCheck(url: string, signal: AbortSignal): Promise<Check> {
  try {
    await new Copra({ url, retries: 0, fetch: namedFetch }).ready({ signal });
    return { name: "ready", result: "ok", detail: "settings, database and hubs are in order" };
  } catch (error) {
    const advice = "See the log of the control plane";
    return { name: "ready", result: "failed", detail: endOf(error).message, advice };
  }
}

const nodesCheck = (nodes: number | null): Check =>
  nodes === 0
    ? {
        name: "nodes",
        result: "missing",
        detail: "none is connected",
        advice: "Jobs wait until a node connects: copra node",
      }
    : { name: "nodes", result: "ok", detail: nodes === null ? "unknown" : `${nodes} connected` };

async function credentialCheck(name: string, call: () => Promise<unknown>): Promise<Check> {
  try {
    await call();
    return { name, result: "ok", detail: "valid" };
  } catch (error) {
    return { name, result: "failed", detail: endOf(error).message, advice: "copra login stores another key" };
  }
}
