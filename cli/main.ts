// copra: the command line.
import { VERSION } from "#shared/version.ts";
import { EXIT, endOf, Interrupted } from "./exit.ts";
import { parseCommandLine, withDefaultVerb } from "./program.ts";
import { COMMANDS, GROUPS } from "./table/commands.ts";
import { GLOBAL_OPTIONS } from "./table/global-options.ts";
import { Output } from "./terminal/output.ts";
import { printable } from "./terminal/printable.ts";

/** Signals closer together count as a single Ctrl-C: terminal, npm and bootstrap.mjs each pass it on. */
const SAME_REQUEST_MS = 500;

/** Words after `copra node` that the node program does not handle. */
const NODE_VERBS: ReadonlySet<string> = new Set(["install", "uninstall"]);

endOnClosedPipe(process.stdout);
endOnClosedPipe(process.stderr);
process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === "__complete") {
    const { offersFor } = await import("./system/completion.ts");
    const offers = offersFor(argv.slice(1), { commands: COMMANDS, groups: GROUPS, globals: GLOBAL_OPTIONS });
    process.stdout.write(offers.map((offer) => `${offer.join("\t")}\n`).join(""));
    return EXIT.done;
  }
  // The node program parses its own options.
  if (argv[0] === "node" && !NODE_VERBS.has(argv[1] ?? ""))
    return (await import("./system/repository.ts")).runNode(argv.slice(1));
  const parsed = parseCommandLine(withDefaultVerb(argv), VERSION);
  if ("words" in parsed) {
    (parsed.words.isHelp ? process.stdout : process.stderr).write(parsed.words.text);
    return parsed.words.isHelp ? EXIT.done : EXIT.usage;
  }
  const { spec, args, options, globals } = parsed.chosen;
  const { stdout, stderr, env, stdin } = process;
  const flags = { json: globals.json === true, quiet: globals.quiet === true, noColor: globals.color === false };
  const output = new Output({ stdout, stderr, env, ...flags });
  const stop = spec.handlesSignals ? new AbortController().signal : listenForInterrupts();
  try {
    const run = await spec.load();
    const context = { env, output, globals, signal: stop, input: stdin, now: Date.now };
    return (await run(context, args, options)) ?? EXIT.done;
  } catch (error) {
    // A request that Ctrl-C or a time limit aborted throws the reason, or an error that wraps it.
    const { exitCode, message } = endOf(stop.aborted ? stop.reason : error);
    if (exitCode !== EXIT.interrupted) output.warn(output.wordColors.red(printable(message)));
    return exitCode;
  }
}

/** Returns a signal that the first Ctrl-C aborts. The second Ctrl-C ends the process. */
function listenForInterrupts(): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (!controller.signal.aborted) firstAt = Date.now();
      else if (Date.now() - firstAt > SAME_REQUEST_MS) process.exit(EXIT.interrupted);
      controller.abort(new Interrupted());
    });
  }
  return controller.signal;
}

/** Exits without an error when the reader, such as `head`, closes the pipe. */
function endOnClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.done);
  });
}
