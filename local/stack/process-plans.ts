// The command line and environment of each process of the local system.
import { hostname } from "node:os";
import { join } from "node:path";
import { TOKEN_FD_VARIABLE } from "../../encoder-node/token.ts";
import { origin } from "../home/constants.ts";
import { LOCAL_SERVICE, s3Origins, serviceSecret, serviceVariable } from "../home/service-settings.ts";
import type { StackSettings } from "../home/settings.ts";
import type { ChildPlan } from "../processes/child.ts";

export const s3Plan = ({ home, s3Port, logsToStderr, service = LOCAL_SERVICE }: StackSettings): ChildPlan => ({
  home,
  name: "The S3 server",
  script: "local/s3/s3-server.ts",
  argv: [],
  env: { COPRA_HOME: home, COPRA_S3_PORT: String(s3Port), ...serviceVariable(service) },
  logFile: logsToStderr ? null : join(home, "s3.log"),
});

export const controlPlanePlan = ({
  home,
  port,
  s3Port,
  logsToStderr,
  service = LOCAL_SERVICE,
}: StackSettings): ChildPlan => ({
  home,
  name: "The control plane",
  script: "local/control-plane/control-plane.ts",
  argv: [],
  env: { COPRA_HOME: home, COPRA_PORT: String(port), COPRA_S3_PORT: String(s3Port) },
  secret: serviceSecret(service),
  logFile: logsToStderr ? null : join(home, "control-plane.log"),
});

const NODE_SCRIPT = "encoder-node/main.ts";

export const isNode = ({ script }: ChildPlan): boolean => script === NODE_SCRIPT;

/** Encoder node number `number`, from 1. */
export function nodePlan(
  { home, port, s3Port, logsToStderr, service = LOCAL_SERVICE }: StackSettings,
  nodeToken: string,
  number: number,
): ChildPlan {
  const work = join(home, "nodes", String(number));
  const testBucket = s3Origins(service, s3Port).flatMap((url) => ["--allow-origin", url]);
  return {
    home,
    name: `Encoder node ${number}`,
    script: NODE_SCRIPT,
    argv: [
      ...["--url", origin(port), "--work", work, "--name", `${service.cluster ? hostname() : "local"}-${number}`],
      ...["--allow-private", service.allowPrivate, ...testBucket],
    ],
    env: { COPRA_NODE_ISOLATION: service.isolation },
    secret: { variable: TOKEN_FD_VARIABLE, text: nodeToken },
    logFile: logsToStderr ? null : join(home, `node-${number}.log`),
  };
}
