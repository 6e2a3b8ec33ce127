// copra serve: runs the service on this machine. Environment variables are its settings; options override them.
import { resolve } from "node:path";
import type { Run } from "../command-spec.ts";
import { listOption, type Options, textOption } from "../context.ts";
import { runScript } from "./repository.ts";

/** Environment variable of each option with a value (local/serve/serve-settings.ts, local/home/settings.ts). */
const VARIABLES: Readonly<Record<string, string>> = {
  port: "COPRA_PORT",
  s3Port: "COPRA_S3_PORT",
  nodes: "COPRA_NODES",
  bind: "COPRA_BIND",
  publicUrl: "COPRA_PUBLIC_URL",
  s3Url: "COPRA_S3_URL",
  allowPrivate: "COPRA_ALLOW_PRIVATE",
  isolation: "COPRA_NODE_ISOLATION",
  cluster: "COPRA_CLUSTER",
  clusterAddress: "COPRA_CLUSTER_ADDRESS",
  clusterAdvertise: "COPRA_CLUSTER_ADVERTISE",
  log: "COPRA_LOG",
  drainSeconds: "COPRA_DRAIN_SECONDS",
};

export const serve: Run = async (_context, _args, options) =>
  runScript("local/serve/serve.ts", [], variablesOf(options));

/** Returns the variables that the options set. */
export function variablesOf(options: Options): Record<string, string> {
  const texts = Object.entries(VARIABLES).flatMap(([name, variable]) => {
    const value = textOption(options, name);
    return value === undefined ? [] : [[variable, value] as const];
  });
  const data = textOption(options, "data");
  const proxies = listOption(options, "trustedProxy");
  const folders = listOption(options, "folder");
  return {
    ...Object.fromEntries(texts),
    ...(data === undefined ? {} : { COPRA_HOME: resolve(data) }),
    ...(proxies.length === 0 ? {} : { COPRA_TRUSTED_PROXIES: proxies.join(",") }),
    ...(folders.length === 0 ? {} : { COPRA_FOLDERS: folders.join(",") }),
    ...(options.s3 === false ? { COPRA_S3: "off" } : {}),
    ...(options.insecureHttp === true ? { COPRA_INSECURE_HTTP: "1" } : {}),
  };
}
