// The entry of the control plane's process: the Worker in workerd behind a front server. Its data is in
// $COPRA_HOME/control-plane.
import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, MiniflareCoreError } from "miniflare";
import { createLogger, logCrash, messageOf } from "#shared/log.ts";
import { startFront } from "../front/front-server.ts";
import { origin, S3_REGION, SCRATCH_BUCKET } from "../home/constants.ts";
import { loadSecrets, type Secrets } from "../home/secrets.ts";
import { allowPrivateOf, type ServiceSettings, serviceOf } from "../home/service-settings.ts";
import { readSettings, type StackSettings } from "../home/settings.ts";
import { becomesFree } from "../stack/ports.ts";
import { serviceFiles } from "./service-files.ts";
import { tieWorkerdToThisProcess, workerOptions } from "./worker-options.ts";

/** The workerd of a killed process frees its port within a second or two (run-workerd.sh). */
const PORT_WAIT_MS = 10_000;

/** The interval of the cron trigger in wrangler.toml. */
const SCHEDULE_MS = 2 * 60_000;

const log = createLogger({ write: (line) => console.log(line), now: Date.now, level: "info" }, { part: "local" });

type ControlPlane = { readonly miniflare: Miniflare; readonly front: Server };

async function startControlPlane(
  { home, port, s3Port, service }: StackSettings & { service: ServiceSettings },
  secrets: Secrets,
): Promise<ControlPlane> {
  tieWorkerdToThisProcess();
  const frontSecret = randomBytes(32).toString("base64url");
  const files = await serviceFiles();
  const worker = workerOptions(
    files,
    allowPrivateOf(service, port, s3Port),
    {
      ADMIN_TOKEN: secrets.adminToken,
      SEALING_KEYS: secrets.sealingKeys,
      PUBLIC_URL: service.publicUrl ?? origin(port),
      ...(process.env.LOG_LEVEL ? { LOG_LEVEL: process.env.LOG_LEVEL } : {}),
      ...(service.ownS3 ? scratchOf(service, s3Port, secrets) : {}),
      ...service.variables,
      FRONT_SECRET: frontSecret,
    },
    service.isEdge ? "edge" : "direct",
  );
  const shared = {
    host: "127.0.0.1",
    // `wrangler --persist-to $COPRA_HOME/control-plane` looks here, so that its d1 commands work on this database.
    resourcePersistencePath: join(home, "control-plane", "v3"),
    log: new RuntimeLog(LogLevel.WARN),
    handleStructuredLogs: ({ level, message }: { level: string; message: string }) => writeWorkerLine(level, message),
    // Prevents a request to Cloudflare for this machine's `cf` properties.
    cf: false,
    telemetry: { enabled: false },
  };
  if (!(await becomesFree(port, PORT_WAIT_MS))) throw new Error(`Port ${port} is in use by another program`);
  const miniflare = new Miniflare(convertV4MiniflareOptions({ ...shared, ...worker, port: 0 }));
  await miniflare.ready;
  const upstream = { origin: (await miniflare.unsafeGetDirectURL()).origin, secret: frontSecret };
  const { bind: host, trustedProxies, isEdge = false } = service;
  return { miniflare, front: await startFront({ port, host, trustedProxies, isEdge, log }, upstream) };
}

const scratchOf = ({ s3Url }: ServiceSettings, s3Port: number, { s3 }: Secrets): Record<string, string> => ({
  SCRATCH_ENDPOINT: s3Url ?? origin(s3Port),
  SCRATCH_REGION: S3_REGION,
  SCRATCH_BUCKET,
  SCRATCH_ACCESS_KEY_ID: s3.accessKeyId,
  SCRATCH_SECRET_ACCESS_KEY: s3.secretAccessKey,
});

/** Runs the Worker's scheduled handler at an interval, because Miniflare runs no cron triggers. */
function runScheduleEvery(everyMs: number, controlPlane: Miniflare): void {
  const runOnce = async (): Promise<void> => {
    const { outcome } = await (await controlPlane.getWorker()).scheduled({ cron: "" });
    if (outcome !== "ok") log.warn("scheduled handler failed", { outcome });
  };
  const again = (): void => {
    const next = (): void => void setTimeout(again, everyMs).unref();
    runOnce()
      .catch((error: unknown) => log.warn("scheduled handler not started", { reason: messageOf(error) }))
      .finally(next);
  };
  again();
}

/**
 * Logs Miniflare's messages as JSON. A failure of Miniflare ends this process, because it would continue without a
 * Worker.
 */
class RuntimeLog extends Log {
  override error(error: Error): void {
    log.error("Miniflare failed", { reason: messageOf(error) });
    if (error instanceof MiniflareCoreError && error.code === "ERR_RUNTIME_FAILURE") process.exit(1);
  }
  override logWithLevel(level: LogLevel, message: string): void {
    if (level <= this.level) log.warn("Miniflare warned", { text: message.trimEnd() });
  }
}

/** Prints the Worker's JSON lines as they are, and other output of the runtime as a JSON line. */
function writeWorkerLine(level: string, message: string): void {
  if (message.startsWith("{")) console.log(message);
  else log[level === "error" || level === "warn" ? level : "info"]("workerd output", { text: message.trimEnd() });
}

process.on("uncaughtException", (error) => {
  logCrash(log, error);
  process.exit(1);
});

try {
  const settings = readSettings(process.env);
  const { miniflare, front } = await startControlPlane(
    { ...settings, service: serviceOf(process.env) },
    loadSecrets(settings.home),
  );
  runScheduleEvery(SCHEDULE_MS, miniflare);
  log.info("server started", { port: settings.port });
  process.once("SIGTERM", () => {
    front.close();
    front.closeAllConnections();
    void miniflare.dispose().then(() => process.exit(0));
  });
} catch (error) {
  log.error("control plane not started", { reason: messageOf(error) });
  process.exit(1);
}
