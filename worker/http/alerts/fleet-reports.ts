// Reports of the hubs for the rules of a sweep. Each hub gets a request for each kind of report, when a rule needs it.
import type { Env } from "../../bindings.ts";
import type { NodeReport, QueueReport } from "../../rpc/hub-reports.ts";
import { allPools, askHubs, type HubStub } from "../fleet/ask-hubs.ts";

/** Reports about a pool, or about all pools. Throws if a hub does not answer in time. */
type Reports<Report> = (pool: string | undefined) => Promise<Report[]>;
export type FleetReports = { readonly nodes: Reports<NodeReport>; readonly queues: Reports<QueueReport> };

export function fleetReports(env: Env): FleetReports {
  let pools: Promise<string[]> | null = null;
  function once<Report>(ask: (hub: HubStub) => Promise<Report[]>): Reports<Report> {
    const requestedReports = new Map<string, Promise<Report[][]>>();
    return async (pool) => {
      pools ??= allPools(env);
      const wanted = (await pools).filter((each) => pool === undefined || each === pool);
      for (const each of wanted) if (!requestedReports.has(each)) requestedReports.set(each, askHubs(env, [each], ask));
      return (await Promise.all(wanted.map((each) => requestedReports.get(each) ?? []))).flat(2);
    };
  }
  return { nodes: once((hub) => hub.nodes()), queues: once(async (hub) => [...(await hub.demand()).queues]) };
}
