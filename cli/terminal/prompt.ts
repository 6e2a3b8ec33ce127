// Asks for a secret: without an echo on a terminal, as a line of standard input elsewhere.
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

/** `isTTY` is true if a person types it. */
export type Input = Readable & { readonly isTTY?: boolean };

/** Returns the first line without surrounding spaces, or an empty text if there is no line. */
export async function askSecret(input: Input, question: string, signal: AbortSignal): Promise<string> {
  if (!input.isTTY) return ((await text(input)).split(/\r?\n/)[0] ?? "").trim();
  process.stderr.write(question);
  // Without an output, readline does not echo the typed text.
  const readline = createInterface({ input, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      readline.once("line", (line) => resolve(line.trim()));
      readline.once("SIGINT", () => process.emit("SIGINT"));
      readline.once("close", () => resolve(""));
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  } finally {
    readline.close();
    process.stderr.write("\n");
  }
}
