// Entry of an encoder node.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AppError } from "#shared/errors.ts";
import { createLogger, type Logger, logCrash, messageOf } from "#shared/log.ts";
import { type NodeConfig, readConfig, USAGE } from "./config.ts";
import { probeCapabilities } from "./ffmpeg/build/capabilities.ts";
import { locateFfmpeg } from "./ffmpeg/build/locate.ts";
import { startIsolated } from "./ffmpeg/isolation-start.ts";
import { type EncoderNode, type NodeIdentity, startNode } from "./node.ts";
import { lockFolder } from "./task/folder-lock.ts";
import { takeToken } from "./token.ts";

const log = createLogger({ write: (line) => console.log(line), now: Date.now, level: "info" });

/** The node's name on its disk, so that it is the same node after a restart; the session is new each time. */
async function identify({ workFolder, name }: NodeConfig): Promise<NodeIdentity> {
  const session = randomUUID();
  if (name) return { nodeId: name, session };
  const file = join(workFolder, "node-id");
  const known = await readFile(file, "utf8").catch(() => "");
  if (known) return { nodeId: known.trim(), session };
  const nodeId = `node-${randomUUID().slice(0, 8)}`;
  await writeFile(file, nodeId);
  return { nodeId, session };
}

/** How long reports may take to arrive once the work was handed back. */
const LAST_WORDS_MS = 3000;

/** First signal: finish what runs, within the deadline. Second signal, or the deadline: hand it back at once. */
function stopOnSignals(node: EncoderNode, drainMs: number, log: Logger): void {
  let signals = 0;
  const handBack = (): void => {
    node.handBack();
    // A report that cannot be delivered lies in the spool and is sent at the next start.
    setTimeout(() => process.exit(0), LAST_WORDS_MS).unref();
  };
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1) return handBack();
    log.info("Stopping: running work may finish; signal again to hand it back at once");
    setTimeout(handBack, drainMs).unref();
    node.drain().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error("Node not drained cleanly", { error: messageOf(error) });
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/** What ends the process without its will: it is started again, and its leases run out. */
function crash(error: unknown): never {
  logCrash(log, error);
  process.exit(1);
}

/** What people can mend, they are told in plain words. */
function giveUp(words: string): never {
  console.error(words);
  process.exit(1);
}

/** Makes the folder this node's own, and answers what the node is called in it. */
async function takeFolder(config: NodeConfig): Promise<NodeIdentity> {
  const { workFolder } = config;
  try {
    await mkdir(workFolder, { recursive: true, mode: 0o700 });
    await lockFolder(workFolder);
    return await identify(config);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) return giveUp(messageOf(error));
    return giveUp(`The work folder ${workFolder} cannot be used (${error.code}); give another by --work.`);
  }
}

async function main(config: NodeConfig): Promise<void> {
  const identity = await takeFolder(config);
  const nodeLog = log.child({ node: identity.nodeId });
  const tools = await locateFfmpeg(process.env, nodeLog);
  const isolation = await startIsolated({
    ...{ choice: config.isolation, tools: [tools.ffmpeg, tools.ffprobe], log: nodeLog },
    rootFolder: join(config.workFolder, "root"),
  });
  const capabilities = await probeCapabilities({
    ...{ ...tools, hw: config.hw, log: nodeLog },
    cacheFile: join(config.workFolder, "encoders.json"),
  });
  const node = await startNode({
    ...{ config, identity, tools, log: nodeLog },
    capabilities: { ...capabilities, isolation },
  });
  stopOnSignals(node, config.drainMs, nodeLog);
}

const TOKEN_IN_ARGUMENTS =
  "Every user of this machine can read a token given by --token; use --token-file or COPRA_NODE_TOKEN";

function configOf(args: readonly string[]): NodeConfig {
  try {
    const config = readConfig(args, { ...process.env, COPRA_NODE_TOKEN: takeToken(process.env) });
    if (args.some((argument) => /^--token(?:=|$)/.test(argument))) log.warn(TOKEN_IN_ARGUMENTS);
    return { ...config, workFolder: resolve(config.workFolder) };
  } catch (error) {
    return giveUp(`${messageOf(error)}\n\n${USAGE}`);
  }
}

process.on("uncaughtException", crash);
// Files in the work folder, which is private, are read by ffmpeg under users of its own.
process.umask(0o022);
const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(USAGE);
} else {
  // An AppError at the start is about the ffmpeg or the hardware that this node was told to use.
  main(configOf(args)).catch((error: unknown) => (error instanceof AppError ? giveUp(error.message) : crash(error)));
}
