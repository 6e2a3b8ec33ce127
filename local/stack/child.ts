// A child process that is kept alive: what dies unasked is started again.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { TOKEN_FD_VARIABLE } from "../../encoder-node/token.ts";
import { keepLogShort } from "./log-file.ts";
import { PARENT_VARIABLE } from "./parent.ts";
import { ROOT } from "./places.ts";
import { markOf } from "./processes.ts";

export type ChildPlan = {
  readonly home: string;
  /** For people. */
  readonly name: string;
  /** A TypeScript file, from the repository's root. */
  readonly script: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A node's, which it reads from a file descriptor: its environment and arguments can be read by others. */
  readonly token?: string;
  readonly logFile: string;
};

export interface Child {
  readonly plan: ChildPlan;
  /** The newest process, which may have died a moment ago. */
  pid(): number;
  lives(): boolean;
  /** Resolves with words for people when the process ends before `watch` was called. */
  readonly broken: Promise<string>;
  /** From now on a death leads to a new start. */
  watch(): void;
  /** Asks it to end; asks again after `graceMs`, which cuts an encoder node's work off; kills it in the end. */
  stop(graceMs: number): Promise<void>;
  /** Asks again now. */
  hurry(): void;
}

/** The first behind the standard streams. */
const TOKEN_FD = 3;
const RESTART_AFTER_MS = 1000;
/** Signals that come closer together may reach a process as one. */
const TWO_SIGNALS_MS = 300;
/** A node that is asked twice ends within three seconds. */
const LAST_WORDS_MS = 5000;

/** Starts the child. `changed` is called whenever its pid did; `tell` gets words for people. */
export function startChild(plan: ChildPlan, changed: () => void, tell: (words: string) => void): Child {
  let running: ChildProcess | null = null;
  let pid = 0;
  let watched = false;
  let stopping = false;
  let restart: NodeJS.Timeout | undefined;
  const broken = Promise.withResolvers<string>();

  function start(): void {
    const child = launch(plan);
    running = child;
    // A program that cannot be started has none, and says so by an error event.
    pid = child.pid ?? pid;
    child.once("error", (error) => ended(child, error.message));
    child.once("exit", (code, signal) =>
      ended(child, signal ? `was killed with ${signal}` : `ended with code ${code}`),
    );
    changed();
  }

  function ended(child: ChildProcess, how: string): void {
    if (running !== child) return;
    running = null;
    if (stopping) return;
    changed();
    if (!watched) return broken.resolve(`${plan.name} ${how}. ${lastWords(plan.logFile)}`);
    tell(`${plan.name} ${how}; starting it again. Its log: ${plan.logFile}`);
    restart = setTimeout(start, RESTART_AFTER_MS);
  }

  const letLogGrow = keepLogShort(plan.logFile, tell);
  start();
  return {
    plan,
    pid: () => pid,
    lives: () => running !== null,
    broken: broken.promise,
    watch() {
      watched = true;
      if (running === null) start();
    },
    async stop(graceMs) {
      stopping = true;
      clearTimeout(restart);
      letLogGrow();
      if (running?.pid !== undefined) await end(running, graceMs);
    },
    hurry: () => void running?.kill("SIGTERM"),
  };
}

function launch({ home, script, argv, env, token, logFile }: ChildPlan): ChildProcess {
  const log = openSync(logFile, "a", 0o600);
  try {
    const handed = token === undefined ? {} : { [TOKEN_FD_VARIABLE]: String(TOKEN_FD) };
    const child = spawn(process.execPath, ["--import", markOf(home), join(ROOT, script), ...argv], {
      stdio: ["ignore", log, log, ...(token === undefined ? [] : ["pipe" as const])],
      cwd: ROOT,
      env: { ...process.env, ...env, ...handed, [PARENT_VARIABLE]: String(process.pid) },
      // Its own process group: Ctrl-C in the terminal is for the stack, which ends its children in order.
      detached: true,
    });
    const pipe = child.stdio[TOKEN_FD];
    // One that has ended already does not read it.
    if (pipe instanceof Writable) pipe.on("error", () => undefined).end(token);
    return child;
  } finally {
    closeSync(log);
  }
}

async function end(child: ChildProcess, graceMs: number): Promise<void> {
  const gone = once(child, "exit");
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const again = Math.max(graceMs, TWO_SIGNALS_MS);
  const deadlines = [
    setTimeout(() => child.kill("SIGTERM"), again),
    setTimeout(() => child.kill("SIGKILL"), again + LAST_WORDS_MS),
  ];
  await gone;
  for (const deadline of deadlines) clearTimeout(deadline);
}

const LAST_LINES = 5;

function lastWords(logFile: string): string {
  const lines = readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-LAST_LINES);
  return `The end of ${logFile}:\n${lines.join("\n")}`;
}
