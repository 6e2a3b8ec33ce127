// copra: the command line.
import { EXIT, Interrupted } from "./exit.ts";
import { runCommandLine } from "./run-command-line.ts";

/** Signals closer together count as a single Ctrl-C: terminal, npm and bootstrap.mjs each pass it on. */
const SAME_REQUEST_MS = 500;

const { stdout, stderr, stdin: input, env } = process;
endOnClosedPipe(stdout);
endOnClosedPipe(stderr);
process.exitCode = await runCommandLine(process.argv.slice(2), { stdout, stderr, env, input, listenForInterrupts });

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
