// Asks for a secret: without an echo on a terminal, as a line of standard input elsewhere.
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

/** The first line without spaces around it; empty if there is none. */
export async function askSecret(input: NodeJS.ReadStream, question: string, signal: AbortSignal): Promise<string> {
  if (!input.isTTY) return ((await text(input)).split(/\r?\n/)[0] ?? "").trim();
  process.stderr.write(question);
  // Without an output, readline shows nothing of what is typed.
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
