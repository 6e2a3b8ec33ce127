// A child process of the local system. It is restarted when it exits unexpectedly.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { Writable } from "node:stream";
import { programFile, ROOT } from "../home/constants.ts";
import { keepLogShort } from "./log-file.ts";
import { PARENT_VARIABLE } from "./parent.ts";
import { exitModuleFor } from "./process-record.ts";

export type ChildPlan = {
  readonly home: string;
  /** Shown to people, for example "The S3 server". */
  readonly name: string;
  /** Path of a TypeScript file from the repository root. */
  readonly script: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * A text for the program, which reads it from the file descriptor in this variable. Other processes could read its
   * environment and arguments.
   */
  readonly secret?: { readonly variable: string; readonly text: string };
  /** Null: standard error of this process. */
  readonly logFile: string | null;
};

export interface Child {
  readonly plan: ChildPlan;
  /** The pid of the newest process, which may have just exited. */
  pid(): number;
  isRunning(): boolean;
  /** Resolves with a message for people if the process exits before `watch` is called. */
  readonly exitedEarly: Promise<string>;
  /** Restarts the process from now on when it exits. */
  watch(): void;
  /** Stops the process as `stop` does, and starts a new process with the current files. */
  restart(graceMs: number): void;
  /** Sends SIGTERM; again after `graceMs`, when an encoder node abandons its tasks; finally SIGKILL. */
  stop(graceMs: number): Promise<void>;
  /** Sends the second SIGTERM now. */
  terminate(): void;
}

/** The first file descriptor after the standard streams. */
const SECRET_FD = 3;
const RESTART_AFTER_MS = 1000;
/** Closer signals may reach a process as a single signal. */
const TWO_SIGNALS_MS = 300;
/** A node exits within three seconds of its second SIGTERM. */
const KILL_AFTER_MS = 5000;

/** Starts the child. Calls `changed` whenever its pid or state changes; `notify` gets messages for people. */
export function startChild(plan: ChildPlan, changed: () => void, notify: (message: string) => void): Child {
  let running: ChildProcess | null = null;
  let pid = 0;
  let watched = false;
  let stopping = false;
  let restarting = false;
  let restartTimer: NodeJS.Timeout | undefined;
  const exitedEarly = Promise.withResolvers<string>();

  function start(): void {
    restarting = false;
    const child = launch(plan);
    running = child;
    // A program that failed to start has no pid and emits an error event.
    pid = child.pid ?? pid;
    child.once("error", (error) => exited(child, error.message));
    child.once("exit", (code, signal) =>
      exited(child, signal ? `was killed with ${signal}` : `exited with code ${code}`),
    );
    changed();
  }

  function exited(child: ChildProcess, how: string): void {
    if (running !== child) return;
    running = null;
    if (stopping) return;
    changed();
    if (restarting) return start();
    if (!watched) return exitedEarly.resolve(`${plan.name} ${how}. ${endOfLog(plan.logFile)}`);
    notify(`${plan.name} ${how}; restarting it.${plan.logFile === null ? "" : ` Its log: ${plan.logFile}`}`);
    restartTimer = setTimeout(start, RESTART_AFTER_MS);
  }

  const stopCapping = plan.logFile === null ? () => {} : keepLogShort(plan.logFile, notify);
  start();
  return {
    plan,
    pid: () => pid,
    isRunning: () => running !== null,
    exitedEarly: exitedEarly.promise,
    watch() {
      watched = true;
      if (running === null) start();
    },
    restart(graceMs) {
      // A process that is already restarting will run the current files.
      if (running === null || restarting || stopping) return;
      restarting = true;
      void end(running, graceMs);
    },
    async stop(graceMs) {
      stopping = true;
      clearTimeout(restartTimer);
      stopCapping();
      if (running?.pid !== undefined) await end(running, graceMs);
    },
    terminate: () => void running?.kill("SIGTERM"),
  };
}

/**
 * Makes glibc return freed memory to the machine (mallopt(3)). Miniflare frees 200 MB after its start: the control
 * plane then holds 170 MB instead of 410. Other C libraries ignore it.
 */
const LEAN = { MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_TRIM_THRESHOLD_: "131072" };

function launch({ home, script, argv, env, secret, logFile }: ChildPlan): ChildProcess {
  const log = logFile === null ? process.stderr.fd : openSync(logFile, "a", 0o600);
  try {
    const secretVariable = secret === undefined ? {} : { [secret.variable]: String(SECRET_FD) };
    const node = ["--max-semi-space-size=2", "--import", exitModuleFor(home)];
    const child = spawn(process.execPath, [...node, programFile(script), ...argv], {
      stdio: ["ignore", log, log, ...(secret === undefined ? [] : ["pipe" as const])],
      cwd: ROOT,
      env: { ...LEAN, ...process.env, ...env, ...secretVariable, [PARENT_VARIABLE]: String(process.pid) },
      // A separate process group: Ctrl-C in the terminal is for the stack, which stops its children in order.
      detached: true,
    });
    const pipe = child.stdio[SECRET_FD];
    // A process that has already exited does not read the text.
    if (pipe instanceof Writable) pipe.on("error", () => undefined).end(secret?.text);
    return child;
  } finally {
    if (logFile !== null) closeSync(log);
  }
}

async function end(child: ChildProcess, graceMs: number): Promise<void> {
  const exit = once(child, "exit");
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const secondSignalMs = Math.max(graceMs, TWO_SIGNALS_MS);
  const timers = [
    setTimeout(() => child.kill("SIGTERM"), secondSignalMs),
    setTimeout(() => child.kill("SIGKILL"), secondSignalMs + KILL_AFTER_MS),
  ];
  await exit;
  for (const timer of timers) clearTimeout(timer);
}

const LAST_LINES = 5;

function endOfLog(logFile: string | null): string {
  if (logFile === null) return "Its log is above.";
  const lines = readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-LAST_LINES);
  return `The end of ${logFile}:\n${lines.map((line) => `  ${readable(line)}`).join("\n")}`;
}

/** A log line for people: the level, message and reason of a JSON line. */
function readable(line: string): string {
  try {
    const { level, message, error, reason } = JSON.parse(line);
    return [level, message, error ?? reason].filter((text) => text !== undefined).join(": ");
  } catch {
    return line;
  }
}
