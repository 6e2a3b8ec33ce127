// Machines of a local network: network namespaces on a bridge if this machine supports them, else its loopback
// interface.
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

/** The address of a machine, and the words before a command that run it there. */
export type Machine = { readonly address: string; readonly enter: readonly string[] };
export type Lan = { readonly machines: readonly Machine[]; readonly isIsolated: boolean; close(): Promise<void> };

const run = (words: readonly string[]): void => {
  const [program = "", ...args] = words;
  execFileSync(program, args, { stdio: "pipe" });
};

/** Opens machines with these addresses in the same /24 network. */
export async function openLan(addresses: readonly string[]): Promise<Lan> {
  const holders: ChildProcess[] = [];
  const close = async (): Promise<void> => {
    for (const holder of holders) {
      if (holder.exitCode !== null || holder.signalCode !== null) continue;
      const exit = once(holder, "exit");
      holder.kill("SIGKILL");
      await exit;
    }
  };
  try {
    const machines = [];
    for (const address of addresses) machines.push(await machineAt(address, holders));
    connect(machines);
    return { machines, isIsolated: true, close };
  } catch {
    await close();
    return { machines: addresses.map(() => ({ address: "127.0.0.1", enter: [] })), isIsolated: false, close };
  }
}

type Namespace = Machine & { readonly pid: number };

/** A namespace that lives as long as its holder process. */
async function machineAt(address: string, holders: ChildProcess[]): Promise<Namespace> {
  const holder = spawn("unshare", ["--net", "sh", "-c", "echo ready; exec sleep 3600"]);
  holders.push(holder);
  await Promise.race([
    once(holder.stdout, "data"),
    once(holder, "exit").then(() => Promise.reject(new Error("ended"))),
  ]);
  const pid = holder.pid ?? 0;
  const enter = ["nsenter", "--net", "--target", String(pid)];
  run([...enter, "ip", "link", "set", "lo", "up"]);
  return { address, enter, pid };
}

/** Connects the machines by a bridge in the namespace of the first machine. */
function connect([first, ...others]: readonly Namespace[]): void {
  if (!first) return;
  const ip = (machine: Machine, ...words: string[]): void => run([...machine.enter, "ip", ...words]);
  ip(first, "link", "add", "lan", "type", "bridge");
  ip(first, "address", "add", `${first.address}/24`, "dev", "lan");
  ip(first, "link", "set", "lan", "up");
  for (const [at, machine] of others.entries()) {
    ip(first, "link", "add", `port${at}`, "type", "veth", "peer", "name", "eth0", "netns", String(machine.pid));
    ip(first, "link", "set", `port${at}`, "master", "lan", "up");
    ip(machine, "address", "add", `${machine.address}/24`, "dev", "eth0");
    ip(machine, "link", "set", "eth0", "up");
  }
}

export type Program = { readonly child: ChildProcess; output(): string; stop(): Promise<void> };

type Place = { readonly machine: Machine; readonly cwd: string; readonly env: Readonly<Record<string, string>> };

const wordsOn = ({ enter }: Machine, words: readonly string[]): [string, string[]] => {
  const [program = "", ...args] = [...enter, ...words];
  return [program, args];
};

/** Starts a program on a machine. */
export function startOn({ machine, cwd, env }: Place, words: readonly string[]): Program {
  const child = spawn(...wordsOn(machine, words), { cwd, env: { ...process.env, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    await exit;
  };
  return { child, output: () => output, stop };
}

/** Runs a program on a machine to its end; returns its output. Rejects if it fails. */
export async function runOn({ machine, cwd, env }: Place, words: readonly string[]): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 1e7 };
  return (await promisify(execFile)(...wordsOn(machine, words), options)).stdout;
}
