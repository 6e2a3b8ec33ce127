// Runs parsers of foreign texts in a process of their own. A text that takes too much time or memory there fails its
// output; here, it would end the node. A thread would not do: when an array outgrows the heap of a thread, V8 ends the
// whole process (Node 20.20 and 24.21, 2026-11-28).
import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import { AppError } from "#shared/errors.ts";
import type { Result } from "#shared/result.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { programBeside } from "../../own-program.ts";
import type { ForeignFile, Parsers } from "./parsers.ts";
import type { Parsing } from "./run-parser.ts";
import { LIMITS, tooComplex } from "./too-complex.ts";

const PROGRAM = programBeside(import.meta.url, "parse-process");
/** Above the largest result: the parts of overlapping captions. */
const MAX_RESULT_BYTES = 200e6;
/** Starting Node takes longer than reading smaller files, which cannot keep linear parsers busy. */
const SMALL_BYTES = 64_000;

/**
 * Calls a parser with these files and further arguments, which must be data. Throws the AppError of the parser,
 * AppError `subtitle_failed` when it takes too much time or memory, and the signal's reason.
 */
export async function isolated<Name extends keyof Parsers>(
  name: Name,
  args: Parameters<Parsers[Name]>,
  signal: AbortSignal,
  limits: typeof LIMITS = LIMITS,
): Promise<Awaited<ReturnType<Parsers[Name]>>> {
  signal.throwIfAborted();
  const result = (await isSmall(args))
    ? await (await import("./run-parser.ts")).runParser({ name, args })
    : await runApart({ name, args }, limits, signal);
  if (!result.ok) throw AppError.from(result.error);
  return result.value as Awaited<ReturnType<Parsers[Name]>>;
}

/** A parser reports a file that does not exist. */
async function isSmall(args: readonly unknown[]): Promise<boolean> {
  const files = args.filter((arg): arg is ForeignFile => typeof arg === "object" && arg !== null && "path" in arg);
  const sizes = files.map(({ path }) => lstat(path).catch(() => ({ size: 0 })));
  return (await Promise.all(sizes)).every(({ size }) => size <= SMALL_BYTES);
}

async function runApart(
  parsing: Parsing,
  { seconds, heapMb }: typeof LIMITS,
  signal: AbortSignal,
): Promise<Result<unknown>> {
  const argv = [`--max-old-space-size=${heapMb}`, PROGRAM];
  const env = { ...toolEnvironment(), NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
  const limits = { timeout: seconds * 1000, killSignal: "SIGKILL", maxBuffer: MAX_RESULT_BYTES, signal } as const;
  const output = await new Promise<Buffer>((resolve, reject) => {
    const child = execFile(process.execPath, argv, { ...limits, env, encoding: "buffer" }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else if (signal.aborted) reject(signal.reason);
      // V8 ends a process with a full heap by SIGABRT.
      else if (error.signal || error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") reject(tooComplex(error));
      else reject(new Error(`A parser failed: ${stderr}`, { cause: error }));
    });
    // The end of a process that does not read its input is reported above.
    child.stdin?.on("error", () => undefined).end(serialize(parsing));
  });
  return deserialize(output);
}
