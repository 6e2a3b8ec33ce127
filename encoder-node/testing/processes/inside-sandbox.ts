// Runs a program in place of ffmpeg that reports the files, folders and ports that it can reach. Also a program
// (`node inside-sandbox.ts <folder> <network>`) that prints the report, so that tests can run it as another user.
import { chmod, mkdir, mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { runCommand } from "../../ffmpeg/run-command.ts";
import type { CommandResult } from "../../ffmpeg/run-tool.ts";
import type { RunNetwork } from "../../ffmpeg/sandbox/confine.ts";
import { startRangeProxy } from "../../source/ranges/range-proxy.ts";

export type Inside = {
  /** The user id outside the program's user namespaces, if it has any. */
  readonly uid: number;
  readonly status: Readonly<Record<string, string>>;
  readonly env: readonly string[];
  readonly processes: readonly string[];
  readonly interfaces: readonly string[];
  /** Folders that it could write to, files that it could read, and files that it could change. */
  readonly written: readonly string[];
  readonly read: readonly string[];
  readonly changed: readonly string[];
  /** True if it could create a user namespace. */
  readonly hasUserNamespace: boolean;
  /** Ports of 127.0.0.1 that accepted a connection. */
  readonly reached: readonly number[];
};

const PROGRAM = `
const { execFileSync } = require("node:child_process");
const fs = require("node:fs"), net = require("node:net"), path = require("node:path");
const { writes, reads, ports } = JSON.parse(process.argv[1]);
const succeeds = (act) => { try { act(); return true; } catch { return false; } };
const text = (file) => fs.readFileSync(file, "utf8");
const reach = (port) => new Promise((resolve) => {
  const socket = net.connect(port, "127.0.0.1", () => { socket.destroy(); resolve(true); });
  socket.on("error", () => resolve(false));
});
const nameOf = (pid) => { try { return text("/proc/" + pid + "/comm").trim(); } catch { return []; } };
(async () => {
  const reached = [];
  for (const port of ports) if (await reach(port)) reached.push(port);
  fs.writeFileSync("seen.json", JSON.stringify({
    status: Object.fromEntries(text("/proc/self/status").trim().split("\\n").map((line) => line.split(/:\\s*/))),
    env: Object.keys(process.env).sort(),
    processes: fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name) && name !== String(process.pid)).flatMap(nameOf),
    interfaces: text("/proc/net/dev").split("\\n").slice(2).flatMap((line) => line.includes(":") ? line.split(":")[0].trim() : []),
    written: writes.filter((folder) => succeeds(() => fs.writeFileSync(path.join(folder, "written"), ""))),
    read: reads.filter((file) => succeeds(() => fs.readFileSync(file))),
    changed: reads.filter((file) => succeeds(() => fs.appendFileSync(file, "x"))),
    hasUserNamespace: succeeds(() => execFileSync("unshare", ["--user", "true"], { stdio: "ignore" })),
    reached,
  }));
})();
`;

export type Inspection = {
  readonly seen: Inside;
  readonly folder: string;
  readonly source: string;
  readonly proxyPort: number;
};

/** Inspects a run in a folder below `home`. `home` also contains another task's folder and the node's reports. */
export async function inspectSandbox(home: string, kind: "none" | "loopback"): Promise<Inspection> {
  const folder = await mkdtemp(join(home, "w-"));
  const source = join(home, "source.bin");
  const others = ["spool", "other"].map((name) => join(home, name));
  for (const other of others) await mkdir(other, { recursive: true, mode: 0o700 });
  const secrets = others.map((other) => join(other, "secret"));
  for (const path of [source, ...secrets]) await writeFile(path, "secret", { mode: 0o600 });
  // Only the sandbox keeps a run from changing its source.
  await chmod(source, 0o666);
  const [stranger, proxy] = [await serve(), await startRangeProxy()];
  const input = proxy.open({ sizeBytes: 1, reader: () => ({ read: async () => 0 }) });
  const ports = [portOf(stranger), Number(new URL(input.url).port)];
  const attempts = {
    writes: [folder, home, "/", "/tmp", "/usr", "/dev", "/proc/sys/kernel"],
    reads: [source, ...secrets, `/proc/${process.pid}/environ`, "/etc/passwd", "/etc/hostname", import.meta.filename],
    ports,
  };
  const network: RunNetwork = kind === "loopback" ? input.network : "none";
  const argv = ["-e", PROGRAM, JSON.stringify(attempts), input.url];
  const reads = [source];
  const result = await runCommand({ path: process.execPath, argv, cwd: folder, stallMs: 30_000, reads, network });
  stranger.close();
  await proxy.close();
  if (!result.ok) throw new Error(JSON.stringify(result satisfies CommandResult));
  const { uid } = await stat(join(folder, "seen.json"));
  return {
    seen: { ...JSON.parse(await readFile(join(folder, "seen.json"), "utf8")), uid },
    folder,
    source,
    proxyPort: ports[1] ?? 0,
  };
}

async function serve(): Promise<Server> {
  const server = createServer((_request, response) => response.end());
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

if (import.meta.main) {
  const [home = "", kind] = process.argv.slice(2);
  console.log(JSON.stringify(await inspectSandbox(home, kind === "loopback" ? "loopback" : "none")));
}
