// A network of its own for runs that read what this process serves to them: nothing is in it but loopback and one listener.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { fileURLToPath } from "node:url";
import { findIsolation } from "./isolation.ts";
import { toolEnvironment } from "./tool-environment.ts";

export type LoopbackNetwork = {
  /** The program that enters it; null: it is the machine's, as there is no sandbox or nothing brings loopback up in one. */
  readonly enter: readonly string[] | null;
};

export type OpenLoopback = {
  readonly network: LoopbackNetwork;
  /** Listens on 127.0.0.1 in that network, in this process. */
  readonly listener: Server;
  close(): void;
};

/** Also of a machine that has nothing but util-linux and a shell, these are the usual programs that do it. */
const LOOPBACK_UP = [
  "ip link set lo up 2>/dev/null",
  "ifconfig lo up 2>/dev/null",
  // SIOCSIFFLAGS (netdevice(7)) with IFF_UP and IFF_RUNNING, by the Perl that Debian cannot be without.
  `perl -e 'socket($s,2,2,0) && ioctl($s,0x8914,pack("a16sx22","lo",65)) || exit 1' 2>/dev/null`,
  `python3 -c 'import fcntl,socket,struct;fcntl.ioctl(socket.socket(2,2),0x8914,struct.pack("16sh22x",b"lo",65))' 2>/dev/null`,
].join(" || ");

const HELPER = fileURLToPath(new URL("./loopback-listener.ts", import.meta.url));
const OPEN_MS = 20_000;

/**
 * A listener in a new network namespace, which lives as long as it does, or on the machine's loopback where that cannot be
 * had. Takes as long as a start of Node; a node needs one. Rejects when no port can be had.
 */
export async function openLoopback(): Promise<OpenLoopback> {
  const { sandbox } = await findIsolation();
  const own = sandbox && (await inNamespace(sandbox.way === "user").catch(() => null));
  return own || openMachineLoopback();
}

/** The same on the machine's loopback. */
export async function openMachineLoopback(): Promise<OpenLoopback> {
  const listener = createServer();
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  return { network: { enter: null }, listener, close: () => void listener.close() };
}

/** A socket stays in the namespace in which it was made, whoever has it: the helper makes it there and hands it over. */
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
    helper.once("exit", () => reject(new Error("Loopback cannot be brought up in a network namespace")));
  });
}
