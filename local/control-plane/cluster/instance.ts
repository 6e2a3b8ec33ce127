// An instance of a cluster: workerd with the Worker, whose objects' state is in a bucket that the instances share
// (ClusterConfig in workerd.capnp). Each instance keeps copies of its objects' databases in $COPRA_HOME/cluster.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import { replaceFile } from "../../../cli/replace-file.ts";
import type { ClusterSettings } from "../../home/service-settings.ts";
import { log, type Runtime, writeWorkerLine } from "../runtime.ts";
import { WORKERD_SCRIPT, type WorkerOptions, workerdPath } from "../worker-options.ts";
import { ClusterBucket } from "./bucket.ts";
import { hasDataOfOneMachine, moveData, writerOf } from "./move.ts";
import { serveOn } from "./request-server.ts";
import { SCRIPT, workerdConfig } from "./workerd-config.ts";

/** A line that workerd writes to its control descriptor for each socket. */
const Listening = z.object({ socket: z.literal("http"), port: z.number() });
/** A line of workerd's log. */
const Line = z.object({ level: z.string(), message: z.string() });

/**
 * Joins the cluster, or starts it; then with the data of a service on one machine, if the home folder has such data.
 * Rejects with a message for the operator if the bucket is of another cluster or cannot hold one, or if workerd ends.
 * Later the process ends with workerd: an instance that the others believe dead must not go on.
 */
export async function startInstance(
  home: string,
  { aws, ...cluster }: ClusterSettings,
  worker: WorkerOptions,
  { sealingKeys }: { readonly sealingKeys: string },
): Promise<Runtime> {
  const secretFor = (use: string): string =>
    createHmac("sha256", sealingKeys).update(`copra cluster ${use}`).digest("hex");
  const bucket = new ClusterBucket(cluster.bucket, aws, secretFor("identity"));
  const launch = (options: WorkerOptions): Promise<Runtime> =>
    launchWorkerd(join(home, "cluster"), options, { ...cluster, key: secretFor("peers") }, aws);
  if (hasDataOfOneMachine(home)) {
    if (!(await bucket.isNew())) {
      throw new Error(
        `${home} has the data of a service on one machine, and ${cluster.bucket} has a cluster already. Choose an empty ` +
          "folder to join the cluster, or an empty prefix to move the data",
      );
    }
    const writer = await launch(writerOf(worker));
    const [objects, statements] = await moveData(home, worker, writer.origin).catch((error: unknown) => {
      throw new Error(`The data was not moved. Empty ${cluster.bucket} and start again. ${messageOf(error)}`);
    });
    await writer.stop();
    renameSync(join(home, "control-plane"), join(home, `moved-${Date.now()}`));
    log.info("data moved into the cluster", { objects, statements });
  }
  await bucket.claim();
  return launch(worker);
}

async function launchWorkerd(
  folder: string,
  worker: WorkerOptions,
  cluster: Parameters<typeof workerdConfig>[2],
  aws: Readonly<Record<string, string>>,
): Promise<Runtime> {
  const storage = join(folder, "objects");
  // The bucket's copies replace an instance's.
  rmSync(storage, { recursive: true, force: true });
  mkdirSync(storage, { recursive: true, mode: 0o700 });
  const { MAIL } = worker.serviceBindings;
  const files = {
    assets: worker.serviceBindings.ASSETS.disk.path,
    storage,
    outbound: await serveOn(join(folder, "outbound"), worker.outboundService),
    mail: MAIL ? await serveOn(join(folder, "mail"), MAIL) : null,
  };
  writeFileSync(join(folder, SCRIPT), worker.script);
  const config = join(folder, "workerd.capnp");
  replaceFile(config, workerdConfig(worker, files, cluster), 0o600);
  return run(config, aws);
}

async function run(config: string, aws: Readonly<Record<string, string>>): Promise<Runtime> {
  const workerd = spawn(WORKERD_SCRIPT, ["serve", "--experimental", "--control-fd=3", config], {
    stdio: ["ignore", "pipe", "pipe", "pipe"] as const,
    env: { ...process.env, ...aws, COPRA_WORKERD: workerdPath() },
  });
  let isStopping = false;
  let lastLine = "";
  for (const stream of workerd.stdio.slice(1, 3)) {
    createInterface(stream as Readable).on("line", (line) => {
      const { level, message } = Line.safeParse(parsed(line)).data ?? { level: "warn", message: line };
      lastLine = message;
      writeWorkerLine(level, message);
    });
  }
  const ended = once(workerd, "exit").then(() => {
    if (!isStopping) throw new Error(`workerd ended: ${lastLine}`);
  });
  const port = await Promise.race([portOf(workerd.stdio[3] as Readable), ended]);
  ended.catch((error: Error) => {
    log.error("instance ended", { reason: error.message });
    process.exit(1);
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      isStopping = true;
      workerd.kill("SIGTERM");
      await ended;
    },
  };
}

async function portOf(control: Readable): Promise<number> {
  for await (const line of createInterface(control)) {
    const { data } = Listening.safeParse(parsed(line));
    if (data) return data.port;
  }
  return await new Promise(() => {});
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
