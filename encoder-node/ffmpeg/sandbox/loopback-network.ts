// A separate network for runs whose input this process serves: it contains only loopback and a listener.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { programBeside } from "../../own-program.ts";
import { findIsolation } from "./isolation.ts";
import { toolEnvironment } from "./tool-environment.ts";

export type LoopbackNetwork = {
  /**
   * The command prefix that enters the network. Null: it is the machine's own network, because there is no sandbox or
   * no program that brings up loopback.
   */
  readonly enter: readonly string[] | null;
};

export type OpenLoopback = {
  readonly network: LoopbackNetwork;
  /** Listens on 127.0.0.1 of that network. The server runs in this process. */
  readonly listener: Server;
  close(): void;
};

/** The usual programs that bring up loopback. A machine with util-linux and a shell has at least one of them. */
const LOOPBACK_UP = [
  "ip link set lo up 2>/dev/null",
  "ifconfig lo up 2>/dev/null",
  // SIOCSIFFLAGS (netdevice(7)) with IFF_UP and IFF_RUNNING. Perl is an essential package of Debian.
  `perl -e 'socket($s,2,2,0) && ioctl($s,0x8914,pack("a16sx22","lo",65)) || exit 1' 2>/dev/null`,
  `python3 -c 'import fcntl,socket,struct;fcntl.ioctl(socket.socket(2,2),0x8914,struct.pack("16sh22x",b"lo",65))' 2>/dev/null`,
].join(" || ");

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
  const [program = "", ...argv] = [
    ...["unshare", hasUser ? "-rn" : "-n", "--", "sh", "-c", `{ ${LOOPBACK_UP}; } && exec "$@"`, "loopback"],
    ...[process.execPath, HELPER],
  ];
  const helper = spawn(program, argv, { stdio: ["ignore", "ignore", "ignore", "ipc"], env: toolEnvironment(null) });
  const timer = setTimeout(() => helper.kill("SIGKILL"), OPEN_MS);
  try {
    const listener = await listenerOf(helper);
    const files = ["net", ...(hasUser ? ["user"] : [])].map((kind) => openSync(`/proc/${helper.pid}/ns/${kind}`, "r"));
    const [net, user] = files.map((file) => `/proc/${process.pid}/fd/${file}`);
    const enterUser = user === undefined ? [] : [`--user=${user}`, "--preserve-credentials"];
    return {
      network: { enter: ["nsenter", ...enterUser, `--net=${net}`, "--"] },
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
    helper.once("exit", () => reject(new Error("No program could bring up loopback in a network namespace")));
  });
}
