// Entry point of an encoder node.
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AppError } from "#shared/errors.ts";
import { createLogger, type Logger, type LogSink, logCrash, messageOf } from "#shared/log.ts";
import { type NodeConfig, readConfig, USAGE } from "./config.ts";
import { checkIsolation } from "./ffmpeg/check-isolation.ts";
import { probeCapabilities } from "./ffmpeg/discover/capabilities.ts";
import { locateFfmpeg } from "./ffmpeg/discover/locate.ts";
import { openFolders } from "./folders/node-folders.ts";
import { removeLeft } from "./folders/temporary-files.ts";
import { serveHealth } from "./health.ts";
import { type EncoderNode, type Machine, spoolIn, startNode } from "./node.ts";
import { identify, type NodeIdentity } from "./node-identity.ts";
import { readableLine } from "./readable-log.ts";
import { openEngine } from "./speech/engine.ts";
import { findFonts } from "./text/burn-in/node-fonts.ts";
import { takeToken } from "./token.ts";
import { startWatchdog } from "./watchdog/watchdog.ts";
import { lockFolder } from "./workspace/folder-lock.ts";

/** Set to the configured level once the configuration is known. */
const logSink: LogSink = {
  write: (line) => console.log(process.stdout.isTTY ? readableLine(line, !process.env.NO_COLOR) : line),
  now: Date.now,
  level: "info",
};
const log = createLogger(logSink);

/** Limit for the main thread to respond: far more than any work needs. Only tests shorten it. */
const HANG_MS = Number(process.env.COPRA_NODE_HANG_MS ?? 30_000);

/** Time limit for reports after the work was handed back. */
const LAST_REPORTS_MS = 3000;

/**
 * The first signal drains the node. If its machine is taken away, it finishes only work that can end before the
 * deadline. A second signal, or the deadline, hands back running work at once.
 */
function stopOnSignals(node: EncoderNode, { drainMs, spot }: NodeConfig, log: Logger): void {
  let signals = 0;
  const handBack = (): void => {
    node.handBack();
    // Undelivered reports stay in the spool, and are sent after the next start.
    setTimeout(() => process.exit(0), LAST_REPORTS_MS).unref();
  };
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1) return handBack();
    log.info("draining started", {
      limitMs: drainMs,
      advice: "send the signal again to hand back running work at once",
    });
    setTimeout(handBack, drainMs).unref();
    node.drain(spot ? drainMs : null).catch(() => undefined);
  };
  node.stopped.then(
    () => process.exit(0),
    (error: unknown) => {
      log.error("draining failed", { error: messageOf(error) });
      process.exit(1);
    },
  );
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/** An unexpected error. The process ends, and its leases expire. */
function crash(error: unknown): never {
  logCrash(log, error);
  process.exit(1);
}

/** An error that the operator can fix. */
function exitWithMessage(message: string): never {
  console.error(message);
  process.exit(1);
}

/** Creates and locks the work folder, and returns the node's identity. */
async function openWorkFolder(config: NodeConfig): Promise<NodeIdentity> {
  const { workFolder } = config;
  try {
    await mkdir(workFolder, { recursive: true, mode: 0o700 });
    await lockFolder(workFolder);
    return await identify(config);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) return exitWithMessage(messageOf(error));
    return exitWithMessage(
      `The work folder ${workFolder} cannot be used (${error.code}); choose another folder with --work.`,
    );
  }
}

async function main(config: NodeConfig): Promise<void> {
  const identity = await openWorkFolder(config);
  const nodeLog = createLogger(logSink, {
    // The name may change until the hub has accepted it.
    get node() {
      return identity.nodeId;
    },
  });
  const { url, token, workFolder } = config;
  startWatchdog({ url, token, spool: spoolIn(workFolder), limitMs: HANG_MS }, nodeLog);
  const probe = (): Promise<Machine> => probeMachine(config, nodeLog);
  const node = await startNode({ config, identity, probe, log: nodeLog });
  stopOnSignals(node, config, nodeLog);
  await showHealth(node, config);
}

async function probeMachine(config: NodeConfig, log: Logger): Promise<Machine> {
  const { isolation: choice, workFolder, hw } = config;
  const tools = await locateFfmpeg(process.env, log);
  const rootFolder = join(workFolder, "root");
  const isolation = await checkIsolation({ choice, tools: [tools.ffmpeg, tools.ffprobe], log, rootFolder });
  const capabilities = await probeCapabilities({ ...tools, hw, log, cacheFile: join(workFolder, "encoders.json") });
  const folders = await openFolders(config.folders, workFolder).catch((error: unknown) =>
    exitWithMessage(messageOf(error)),
  );
  for (const folder of folders.values()) if (folder.isWritable) await removeLeft(folder);
  const usable = [...folders.values()].map(({ name, isWritable }) => ({ name, isWritable }));
  const fonts = await fontNames(config, log);
  const speech = config.speechModel === null ? null : await openEngine(config.speechModel, workFolder, log);
  const features = speech ? (["speech"] as const) : [];
  const all = { ...capabilities, isolation, fonts, folders: usable, features: [...features] };
  return { tools, folders, speech, capabilities: all };
}

/** Names of the fonts for captions. Ends the process with a message when the operator's folder cannot be read. */
async function fontNames({ fontsFolder }: NodeConfig, log: Logger): Promise<string[]> {
  try {
    const fonts = [...(await findFonts(fontsFolder)).keys()];
    log.info("fonts found", { fonts: fonts.join(", ") });
    return fonts;
  } catch (error) {
    return exitWithMessage(`The fonts cannot be read (--fonts): ${messageOf(error)}`);
  }
}

/** Throws a message for people when the port is taken. */
async function showHealth(node: EncoderNode, { health }: NodeConfig): Promise<void> {
  if (health === null) return;
  try {
    await serveHealth(health, node.notReady);
  } catch (error) {
    exitWithMessage(`--health-port ${health.port} cannot be used: ${messageOf(error)}`);
  }
}

function configOf(args: readonly string[]): NodeConfig {
  try {
    const config = readConfig(args, { ...process.env, COPRA_NODE_TOKEN: takeToken(process.env) });
    if (args.some((argument) => /^--token(?:=|$)/.test(argument))) {
      log.warn("token in arguments readable by other users", { advice: "use --token-file or COPRA_NODE_TOKEN" });
    }
    logSink.level = config.logLevel;
    return { ...config, workFolder: resolve(config.workFolder) };
  } catch (error) {
    return exitWithMessage(`${messageOf(error)}\n\n${USAGE}`);
  }
}

process.on("uncaughtException", crash);
// ffmpeg runs as other users, and reads files in the work folder. The folder is private.
process.umask(0o022);
const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(USAGE);
} else {
  // An AppError at the start concerns the configured ffmpeg or hardware.
  main(configOf(args)).catch((error: unknown) =>
    error instanceof AppError ? exitWithMessage(error.message) : crash(error),
  );
}
