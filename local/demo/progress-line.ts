// Shows a job's progress: on a terminal a line that is redrawn, elsewhere a line for each change.
import type { WriteStream } from "node:tty";
import type { JobView } from "./api-client.ts";

/** A job's statuses and percentages in one line. */
export function describeProgress({ progress, status, state, input, outputs }: JobView): string {
  const stateOf = (text: string): string => text.slice(text.indexOf(".") + 1);
  const parts = outputs.map(({ key, status, progress: own }) => {
    const percent = own && own !== "0%" && own !== "100%" ? ` ${own}` : "";
    return `${key} ${stateOf(status)}${percent}`;
  });
  return [`${progress.padStart(4)} ${state ?? stateOf(status)}`, `input ${stateOf(input.status)}`, ...parts].join(
    " · ",
  );
}

export interface ProgressLine {
  show(line: string): void;
  /** Keeps the last line on the screen. */
  end(): void;
}

const CLEAR_LINE = "\r\u001b[2K";

export function progressLine(out: Pick<WriteStream, "write" | "isTTY" | "columns">): ProgressLine {
  let last = "";
  return {
    show(line) {
      if (line === last) return;
      last = line;
      // A line that wraps could not be redrawn.
      out.write(out.isTTY ? CLEAR_LINE + line.slice(0, (out.columns || 80) - 1) : `${line}\n`);
    },
    end() {
      if (out.isTTY && last !== "") out.write("\n");
    },
  };
}
