// A separate network for runs whose input this process serves: it contains only loopback and a listener.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { programBeside } from "../../own-program.ts";
import { findIsolation } from "./isolation.ts";
import { isolated, step } from "./program.ts";
import { NEW_NETWORK } from "./sandbox.ts";
import { toolEnvironment } from "./tool-environment.ts";

export type LoopbackNetwork = {
  /** Files of the namespaces to enter, in this order. Null: it is the machine's own network, without a sandbox. */
  readonly enter: readonly string[] | null;
};

export type OpenLoopback = {
  readonly network: LoopbackNetwork;
  /** Listens on 127.0.0.1 of that network. The server runs in this process. */
  readonly listener: Server;
  close(): void;
};

const HELPER = programBeside(import.meta.url, "loopback-listener");
const OPEN_MS = 20_000;

/**
 * Opens a listener in a new network namespace, which exists as long as the listener; on the machine's loopback if that
 * fails. Takes as long as starting Node; a node needs a single listener. Rejects when no port is available.
 */
export async function openLoopback(): Promise<OpenLoopback> {
  const { sandbox } = await findIsolation();
  const namespace = sandbox && (await inNamespace(sandbox.privilege === "user").catch(() => null));
  return namespace || openMachineLoopback();
}

/** Opens a listener on the machine's own loopback. */
export async function openMachineLoopback(): Promise<OpenLoopback> {
  const listener = createServer();
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  return { network: { enter: null }, listener, close: () => void listener.close() };
}

/** A socket belongs to the namespace that it was created in, so a helper creates it there and hands it over. */
async function inNamespace(hasUser: boolean): Promise<OpenLoopback> {
  const user = hasUser ? [step("own_user")] : [];
  const steps = [...user, step("call", "unshare", NEW_NETWORK), step("loopback_up"), step("start")];
  const [program = "", ...argv] = isolated(steps, [process.execPath, HELPER]);
  const helper = spawn(program, argv, { stdio: ["ignore", "ignore", "ignore", "ipc"], env: toolEnvironment(null) });
  const timer = setTimeout(() => helper.kill("SIGKILL"), OPEN_MS);
  try {
    const listener = await listenerOf(helper);
    const files = [...(hasUser ? ["user"] : []), "net"].map((kind) => openSync(`/proc/${helper.pid}/ns/${kind}`, "r"));
    return {
      network: { enter: files.map((file) => `/proc/${process.pid}/fd/${file}`) },
      listener,
      close() {
        listener.close();
        for (const file of files) closeSync(file);
      },
    };
  } finally {
    clearTimeout(timer);
    helper.kill("SIGKILL");
  }
}

function listenerOf(helper: ChildProcess): Promise<Server> {
  return new Promise((resolve, reject) => {
    helper.once("message", (_message, handle) => resolve(handle as Server));
    helper.once("error", reject);
    helper.once("exit", () => reject(new Error("Loopback could not be enabled in a network namespace")));
  });
}
