// The command line and environment of each process of the local system.
import { join } from "node:path";
import { origin } from "../home/constants.ts";
import type { StackSettings } from "../home/settings.ts";
import type { ChildPlan } from "../processes/child.ts";

export const s3Plan = ({ home, s3Port }: StackSettings): ChildPlan => ({
  home,
  name: "The S3 server",
  script: "local/s3/s3-server.ts",
  argv: [],
  env: { COPRA_HOME: home, COPRA_S3_PORT: String(s3Port) },
  logFile: join(home, "s3.log"),
});

export const controlPlanePlan = ({ home, port, s3Port }: StackSettings): ChildPlan => ({
  home,
  name: "The control plane",
  script: "local/control-plane/control-plane.ts",
  argv: [],
  env: { COPRA_HOME: home, COPRA_PORT: String(port), COPRA_S3_PORT: String(s3Port) },
  logFile: join(home, "control-plane.log"),
});

/** Encoder node number `number`, from 1. */
export function nodePlan({ home, port }: StackSettings, nodeToken: string, number: number): ChildPlan {
  const work = join(home, "nodes", String(number));
  return {
    home,
    name: `Encoder node ${number}`,
    script: "encoder-node/main.ts",
    argv: ["--url", origin(port), "--work", work, "--allow-private", "loopback", "--name", `local-${number}`],
    env: { COPRA_NODE_ISOLATION: "best-effort" },
    token: nodeToken,
    logFile: join(home, `node-${number}.log`),
  };
}
