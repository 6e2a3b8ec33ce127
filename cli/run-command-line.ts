// Runs a command line of copra: parses it, runs the command, and returns the exit code.
import { VERSION } from "#shared/version.ts";
import type { Context } from "./context.ts";
import { EXIT, endOf } from "./exit.ts";
import { parseCommandLine, withDefaultVerb } from "./program.ts";
import { COMMANDS, GROUPS } from "./table/commands.ts";
import { GLOBAL_OPTIONS } from "./table/global-options.ts";
import { Output, type OutputOptions } from "./terminal/output.ts";
import { printable } from "./terminal/printable.ts";

/** The process of a command line. Commands that handle signals themselves do not listen for interrupts (Ctrl-C). */
export type Host = Pick<Context, "env" | "input"> &
  Pick<OutputOptions, "stdout" | "stderr"> & { listenForInterrupts(): AbortSignal };

/** Words after `copra node` that the node program does not handle. */
const NODE_VERBS: ReadonlySet<string> = new Set(["install", "uninstall"]);

export async function runCommandLine(argv: readonly string[], host: Host): Promise<number> {
  const { stdout, stderr, env, input } = host;
  if (argv[0] === "__complete") {
    const { offersFor } = await import("./system/completion.ts");
    const offers = offersFor(argv.slice(1), { commands: COMMANDS, groups: GROUPS, globals: GLOBAL_OPTIONS });
    stdout.write(offers.map((offer) => `${offer.join("\t")}\n`).join(""));
    return EXIT.done;
  }
  // The node program parses its own options.
  if (argv[0] === "node" && !NODE_VERBS.has(argv[1] ?? ""))
    return (await import("./system/repository.ts")).runNode(argv.slice(1));
  const parsed = parseCommandLine(withDefaultVerb(argv), VERSION);
  if ("words" in parsed) {
    (parsed.words.isHelp ? stdout : stderr).write(parsed.words.text);
    return parsed.words.isHelp ? EXIT.done : EXIT.usage;
  }
  const { spec, args, options, globals } = parsed.chosen;
  const flags = { json: globals.json === true, quiet: globals.quiet === true, noColor: globals.color === false };
  const output = new Output({ stdout, stderr, env, ...flags });
  const stop = spec.handlesSignals ? new AbortController().signal : host.listenForInterrupts();
  try {
    const run = await spec.load();
    const context = { env, output, globals, signal: stop, input, now: Date.now };
    return (await run(context, args, options)) ?? EXIT.done;
  } catch (error) {
    // A request that Ctrl-C or a time limit aborted throws the reason, or an error that wraps it.
    const { exitCode, message } = endOf(stop.aborted ? stop.reason : error);
    if (exitCode !== EXIT.interrupted) output.warn(output.wordColors.red(printable(message)));
    return exitCode;
  }
}
