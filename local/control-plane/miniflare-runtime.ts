// The Worker in Miniflare, on one machine. Its data is in $COPRA_HOME/control-plane.
import { join } from "node:path";
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  MiniflareCoreError,
  type V4WorkerOptions,
} from "miniflare";
import { messageOf } from "#shared/log.ts";
import { log, type Runtime, writeWorkerLine } from "./runtime.ts";
import { tieWorkerdToThisProcess } from "./worker-options.ts";

/** The interval of the cron trigger in wrangler.toml. */
const SCHEDULE_MS = 2 * 60_000;

export async function startMiniflare(home: string, worker: V4WorkerOptions): Promise<Runtime> {
  tieWorkerdToThisProcess();
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
  const miniflare = new Miniflare(convertV4MiniflareOptions({ ...shared, ...worker, port: 0 }));
  await miniflare.ready;
  runScheduleEvery(SCHEDULE_MS, miniflare);
  const { origin } = await miniflare.unsafeGetDirectURL();
  return { origin, stop: () => miniflare.dispose() };
}

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
