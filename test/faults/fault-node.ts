// An encoder node in a separate process that tests can kill, freeze, terminate and restart, as a service manager does.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../../local/home/constants.ts";
import { PARENT_VARIABLE } from "../../local/processes/parent.ts";
import { giveKnownEncoders } from "../services/known-encoders.ts";

export interface FaultNode {
  readonly name: string;
  readonly workFolder: string;
  pid(): number;
  /** Sends SIGKILL. The node restarts with the same folder after `downMs`, or never if `downMs` is null. */
  kill(downMs?: number | null): Promise<void>;
  /** Sends SIGSTOP to the node and all its descendants. */
  freeze(): void;
  thaw(): void;
  /** Sends SIGTERM `times` times, 300 ms apart; returns the exit code. The node does not restart. */
  terminate(times?: number): Promise<number | null>;
  /** Starts the node unless it runs. */
  start(): void;
  /** Resolves once the hub has welcomed the current process. */
  connected(): Promise<void>;
  /** All log lines of the node's processes, parsed. */
  lines(): readonly LogLine[];
  /** Paths of the files in its work folder, except files that an idle node may keep. */
  leftovers(): string[];
  /** True if its disk has the job's source or a part of it. */
  holdsSource(id: string): boolean;
  /** Descendants of the node that still run, also after the node's death. */
  strays(): Running[];
  end(): Promise<void>;
}

export type Running = { readonly pid: number; readonly command: string };
export type LogLine = { readonly message?: string; readonly [name: string]: unknown };

export type NodeSettings = {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Modules to load at the start. */
  readonly imports?: readonly string[];
  /** The node's work folder; a folder in the world's folder by default. */
  readonly workFolder?: string;
  /** The repository whose node runs; this repository by default. */
  readonly root?: string;
};
type Place = NodeSettings & { name: string; url: string; token: string; home: string };

const LOOK_EVERY_MS = 50;
/** Nodes keep sources for two minutes after their last use (encoder-node/workspace/source-cache.ts). */
const KEPT = /^(?:node-id|encoders\.json|node\.lock|sources\/.*)$/;

/** Ends the node when the test run is killed. */
const LEAVE_WITH_PARENT = new URL("../../local/processes/exit-with-parent.ts", import.meta.url).href;

/** Starts a node without waiting for its connection. */
export function startFaultNode({
  name,
  url,
  token,
  home,
  argv = [],
  env = {},
  imports = [],
  root = ROOT,
  ...place
}: Place): FaultNode {
  const { workFolder = join(home, name) } = place;
  const logFile = join(home, `${name}.log`);
  giveKnownEncoders(workFolder);
  let child: ChildProcess | null = null;
  let isWanted = true;
  /** Number of lines that earlier processes have logged. */
  let earlierLines = 0;
  const all = ["--url", url, "--work", workFolder, "--allow-private", "loopback", "--name", name, ...argv];

  function start(): void {
    if (child) return;
    isWanted = true;
    const log = openSync(logFile, "a");
    earlierLines = linesOf(logFile).length;
    const started = spawn(
      process.execPath,
      [
        ...[LEAVE_WITH_PARENT, ...imports].flatMap((module) => ["--import", module]),
        join(root, "encoder-node/main.ts"),
        ...all,
      ],
      {
        cwd: root,
        env: {
          ...process.env,
          COPRA_NODE_TOKEN: token,
          COPRA_NODE_ISOLATION: "best-effort",
          [PARENT_VARIABLE]: String(process.pid),
          ...env,
        },
        stdio: ["ignore", log, log],
        detached: true,
      },
    );
    closeSync(log);
    child = started;
    started.once("exit", () => {
      if (child === started) child = null;
    });
  }

  async function gone(signal: NodeJS.Signals): Promise<number | null> {
    const now = child;
    if (!now) return null;
    const exit = once(now, "exit");
    now.kill("SIGCONT");
    now.kill(signal);
    const [code] = await exit;
    return code;
  }

  start();
  return {
    name,
    workFolder,
    pid: () => child?.pid ?? 0,
    async kill(downMs = 500) {
      await gone("SIGKILL");
      if (downMs === null) return;
      await sleep(downMs);
      if (isWanted) start();
    },
    freeze: () => signalTree(child?.pid, "SIGSTOP"),
    thaw: () => signalTree(child?.pid, "SIGCONT"),
    async terminate(times = 1) {
      isWanted = false;
      const ended = child ? once(child, "exit") : Promise.resolve([null]);
      for (let at = 0; at < times; at++) {
        child?.kill("SIGTERM");
        await sleep(300);
      }
      const [code] = await ended;
      return code;
    },
    start,
    async connected() {
      const isWelcome = ({ message }: LogLine): boolean => message === "control plane connected";
      while (!linesOf(logFile).slice(earlierLines).some(isWelcome)) await sleep(LOOK_EVERY_MS);
    },
    lines: () => linesOf(logFile),
    leftovers: () => filesBelow(workFolder).filter((path) => !KEPT.test(path)),
    holdsSource: (id) => filesBelow(workFolder).some((path) => path.startsWith(`sources/${id}`)),
    strays: () =>
      running().filter(({ command }) => command.includes(workFolder) && !command.includes("encoder-node/main.ts")),
    async end() {
      isWanted = false;
      await gone("SIGKILL");
    },
  };
}

function linesOf(file: string): LogLine[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
}

/** Paths of all files below a folder, relative to it. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

/** All processes of this machine. */
const running = (): Running[] =>
  readdirSync("/proc").flatMap((pid) => {
    try {
      const command = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") : "";
      return command === "" ? [] : [{ pid: Number(pid), command }];
    } catch {
      // The process has ended meanwhile.
      return [];
    }
  });

/** ffmpeg runs in separate process groups below the node. */
function signalTree(pid: number | undefined, signal: NodeJS.Signals): void {
  if (!pid) return;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(/\s+/);
  try {
    process.kill(pid, signal);
  } catch {
    return;
  }
  for (const child of children) signalTree(Number(child), signal);
}
