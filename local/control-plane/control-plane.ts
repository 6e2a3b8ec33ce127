// The entry of the control plane's process: the Worker in workerd behind a front server.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { logCrash, messageOf } from "#shared/log.ts";
import { startFront } from "../front/front-server.ts";
import { origin, S3_REGION, SCRATCH_BUCKET } from "../home/constants.ts";
import { loadSecrets, type Secrets } from "../home/secrets.ts";
import { allowPrivateOf, type ServiceSettings, serviceOf } from "../home/service-settings.ts";
import { readSettings, type StackSettings } from "../home/settings.ts";
import { becomesFree } from "../stack/ports.ts";
import { log, type Runtime } from "./runtime.ts";
import { serviceFiles } from "./service-files.ts";
import { type WorkerOptions, workerOptions } from "./worker-options.ts";

/** The workerd of a killed process frees its port within a second or two (run-workerd.sh). */
const PORT_WAIT_MS = 10_000;

let isStopping = false;

async function startControlPlane(
  { home, port, s3Port, service }: StackSettings & { service: ServiceSettings },
  secrets: Secrets,
): Promise<Runtime> {
  const secret = randomBytes(32).toString("base64url");
  const files = await serviceFiles();
  const bindings = {
    ADMIN_TOKEN: secrets.adminToken,
    SEALING_KEYS: secrets.sealingKeys,
    PUBLIC_URL: service.publicUrl ?? origin(port),
    ...(process.env.LOG_LEVEL ? { LOG_LEVEL: process.env.LOG_LEVEL } : {}),
    ...(service.ownS3 ? scratchOf(service, s3Port, secrets) : {}),
    ...service.variables,
    FRONT_SECRET: secret,
  };
  const worker = workerOptions(
    files,
    allowPrivateOf(service, port, s3Port),
    bindings,
    service.isEdge ? "edge" : "direct",
  );
  if (!(await becomesFree(port, PORT_WAIT_MS))) throw new Error(`Port ${port} is in use by another program`);
  const runtime = await startRuntime(home, service, worker, secrets);
  const { bind: host, trustedProxies, isEdge = false } = service;
  const options = { port, host, trustedProxies, isEdge, isStopping: () => isStopping, log };
  await startFront(options, { origin: runtime.origin, secret });
  return runtime;
}

/** An instance of a cluster needs no Miniflare, which takes 100 MB. */
async function startRuntime(
  home: string,
  { cluster }: ServiceSettings,
  worker: WorkerOptions,
  secrets: Secrets,
): Promise<Runtime> {
  if (cluster === undefined) {
    if (existsSync(join(home, "cluster"))) {
      throw new Error(`${home} is of an instance of a cluster: give its --cluster, or choose another folder`);
    }
    return (await import("./miniflare-runtime.ts")).startMiniflare(home, worker);
  }
  return (await import("./cluster/instance.ts")).startInstance(home, cluster, worker, secrets);
}

const scratchOf = ({ s3Url }: ServiceSettings, s3Port: number, { s3 }: Secrets): Record<string, string> => ({
  SCRATCH_ENDPOINT: s3Url ?? origin(s3Port),
  SCRATCH_REGION: S3_REGION,
  SCRATCH_BUCKET,
  SCRATCH_ACCESS_KEY_ID: s3.accessKeyId,
  SCRATCH_SECRET_ACCESS_KEY: s3.secretAccessKey,
});

process.on("uncaughtException", (error) => {
  logCrash(log, error);
  process.exit(1);
});

try {
  const settings = readSettings(process.env);
  const runtime = await startControlPlane({ ...settings, service: serviceOf(process.env) }, loadSecrets(settings.home));
  log.info("server started", { port: settings.port });
  process.once("SIGTERM", () => {
    isStopping = true;
    void runtime.stop().then(() => process.exit(0));
  });
} catch (error) {
  log.error("control plane not started", { reason: messageOf(error) });
  process.exit(1);
}
