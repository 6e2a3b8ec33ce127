// The commands that ran for a lease, as reported: without folders and URLs with secrets, and within limits.
import { hideUrls } from "#shared/network/hide-urls.ts";
import { type CommandReport, charsOf, MAX_COMMAND_CHARS, MAX_COMMANDS } from "#shared/protocol/commands.ts";
import { withoutFolders } from "../ffmpeg/error-lines.ts";
import type { CommandResult } from "../ffmpeg/run-tool.ts";

/** Characters of the last output of a failed command. */
const STDERR_CHARS = 4000;
/** Lines of the last output of a running command. */
const LAST_LINES = 20;
/** Limit for an output, and for an argument, when there are too many commands for a report. */
const SHORT_CHARS = 1000;

export class CommandLog {
  readonly #openedAt = performance.now();
  readonly #commands: CommandReport[] = [];
  /** Reports about the commands that run now. */
  readonly #running = new Set<() => CommandReport>();

  /**
   * Records the start of a command in a folder; call the returned function with its result. `output` returns the end of
   * its output so far.
   */
  start(argv: readonly string[], folder: string, output: () => string = () => ""): (result: CommandResult) => void {
    const startedAt = performance.now();
    const report = (end: Pick<CommandReport, "exitCode" | "signal" | "stderrTail">): CommandReport => {
      const afterMs = Math.round(startedAt - this.#openedAt);
      const tookMs = Math.round(performance.now() - startedAt);
      const withoutPaths = withoutLists(argv).map((argument) => withoutSecrets(argument, folder));
      return { argv: withoutPaths, afterMs, tookMs, ...end };
    };
    const running = (): CommandReport => report({ exitCode: null, stderrTail: lastLines(output(), folder) });
    this.#running.add(running);
    return (result) => {
      this.#running.delete(running);
      this.#commands.push(report(endOf(result, folder)));
    };
  }

  /** The commands that have not ended, with the last lines of their output. */
  running(): CommandReport[] {
    return bounded([...this.#running].map((running) => running()));
  }

  /** The commands that have ended: all of them, or the most useful commands that fit into a report. */
  reports(): CommandReport[] {
    return bounded(this.#commands);
  }
}

function endOf(result: CommandResult, folder: string): Pick<CommandReport, "exitCode" | "signal" | "stderrTail"> {
  if (result.ok) return { exitCode: 0 };
  // A command that exceeds a limit, stalls or is no longer needed is killed.
  const killed = result.reason === "exit" ? undefined : "SIGKILL";
  const signal = result.signal ?? killed;
  const stderrTail = withoutSecrets(result.stderrTail, folder).trim().slice(-STDERR_CHARS);
  const printed = stderrTail === "" ? {} : { stderrTail };
  return signal === undefined ? { exitCode: result.exitCode, ...printed } : { exitCode: null, signal, ...printed };
}

/** Lists of allowed formats and codecs, which are longer than all other arguments together. */
const LISTS: ReadonlySet<string | undefined> = new Set([
  "-protocol_whitelist",
  "-format_whitelist",
  "-codec_whitelist",
]);

const withoutLists = (argv: readonly string[]): string[] =>
  argv.filter((argument, at) => !LISTS.has(argument) && !LISTS.has(argv[at - 1]));

const lastLines = (text: string, folder: string): string =>
  withoutSecrets(text, folder).trim().split("\n").slice(-LAST_LINES).join("\n").slice(-STDERR_CHARS);

/** Replaces paths by names, and removes secrets from URLs. */
function withoutSecrets(text: string, folder: string): string {
  const lines = hideUrls(text.replaceAll(`${folder}/`, ""))
    .split(/[\r\n]+/)
    .map((line) => withoutFolders(line).replace(/[\p{Cc}\p{Cs}]+/gu, " "));
  return lines.join("\n");
}

/** Leaves out successful commands first, starting with the earliest; then shortens long texts. */
function bounded(commands: readonly CommandReport[]): CommandReport[] {
  const remaining = [...commands];
  let chars = charsOf(remaining);
  while (remaining.length > 1 && (chars > MAX_COMMAND_CHARS || remaining.length > MAX_COMMANDS)) {
    const succeeded = remaining.findIndex(({ exitCode }, at) => exitCode === 0 && at < remaining.length - 1);
    const [removed] = remaining.splice(Math.max(0, succeeded), 1);
    // Counts the comma of the command, but not the brackets of the list.
    chars -= removed ? charsOf([removed]) - 1 : 0;
  }
  return charsOf(remaining) > MAX_COMMAND_CHARS ? remaining.map(shortened) : remaining;
}

function shortened(command: CommandReport): CommandReport {
  const { stderrTail } = command;
  const short = stderrTail === undefined ? command : { ...command, stderrTail: stderrTail.slice(-SHORT_CHARS) };
  const argv = short.argv.map((text) => (text.length > SHORT_CHARS ? `${text.slice(0, SHORT_CHARS)}…` : text));
  let left = MAX_COMMAND_CHARS - charsOf([{ ...short, argv: ["…"] }]);
  const missing = argv.findIndex((text) => {
    left -= JSON.stringify(text).length + 1;
    return left < 0;
  });
  return { ...short, argv: missing < 0 ? argv : [...argv.slice(0, missing), "…"] };
}
