// An encoder node as a process of its own that can be killed, frozen and asked to end, and is started again like a
// service.
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
  /** SIGKILL; it is started again on the same folder after `downMs`, or never when that is null. */
  kill(downMs?: number | null): Promise<void>;
  /** SIGSTOP to it and to all that it has started. */
  freeze(): void;
  thaw(): void;
  /** SIGTERM, so many times, 300 ms apart; answers its exit code once it has ended. It is not started again. */
  terminate(times?: number): Promise<number | null>;
  /** Starts it when it does not run. */
  start(): void;
  /** Resolves once the process that runs now has been welcomed by the hub, by now or later. */
  connected(): Promise<void>;
  /** The lines that it has logged since it first began, parsed. */
  lines(): readonly LogLine[];
  /** The files in its work folder, by their paths there, but for what a node that is idle may keep. */
  leftovers(): string[];
  /** True if the job's source, or a part of it, lies on its disk. */
  holdsSource(id: string): boolean;
  /** What it has started and what still runs, also when it is dead itself. */
  strays(): Running[];
  end(): Promise<void>;
}

export type Running = { readonly pid: number; readonly command: string };
export type LogLine = { readonly message?: string; readonly [name: string]: unknown };

export type NodeSettings = {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Modules that it begins with. */
  readonly imports?: readonly string[];
  /** Below the world's folder unless given. */
  readonly workFolder?: string;
  /** The repository whose node it is; this one unless given. */
  readonly root?: string;
};
type Place = NodeSettings & { name: string; url: string; token: string; home: string };

const LOOK_EVERY_MS = 50;
/** Sources are kept for two minutes after their last use (encoder-node/workspace/source-cache.ts). */
const KEPT = /^(?:node-id|encoders\.json|node\.lock|sources\/.*)$/;

/** Ends the node when the test run is killed. */
const LEAVE_WITH_PARENT = new URL("../../local/processes/exit-with-parent.ts", import.meta.url).href;

/** Starts a node; it connects in its own time. */
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
  /** How many lines the processes before this one have logged. */
  let earlierLines = 0;
  const all = ["--url", url, "--work", workFolder, "--allow-private", "loopback", "--name", name, ...argv];

  function start(): void {
    if (child) return;
    isWanted = true;
    const log = openSync(logFile, "a");
    earlierLines = linesOf(logFile).length;
    const begun = spawn(
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
    child = begun;
    begun.once("exit", () => {
      if (child === begun) child = null;
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

/** Paths of all files, from the folder on. */
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
      // It has ended meanwhile.
      return [];
    }
  });

/** ffmpeg runs in groups of its own, below the node. */
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
