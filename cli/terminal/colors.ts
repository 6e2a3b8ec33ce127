// Colors of terminals: ANSI codes, or nothing.
import { colorCode } from "./printable.ts";

type Env = Readonly<Record<string, string | undefined>>;

export type Colors = {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
};

const code =
  (on: boolean, start: number, end: number) =>
  (text: string): string =>
    on && text !== "" ? colorCode(start) + text + colorCode(end) : text;

export const colors = (on: boolean): Colors => ({
  bold: code(on, 1, 22),
  dim: code(on, 2, 22),
  red: code(on, 31, 39),
  green: code(on, 32, 39),
  yellow: code(on, 33, 39),
});

/** True to color a stream: on terminals, unless NO_COLOR (no-color.org) or TERM=dumb forbids it. */
export function wantsColor(stream: { readonly isTTY?: boolean }, env: Env, noColor: boolean): boolean {
  if (noColor || (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb") return false;
  return stream.isTTY === true || (env.FORCE_COLOR ?? "0") !== "0";
}

/** Colors a status by its last part: `job.completed`, `video.failed`, `ready`. */
export function statusColor(status: string, { green, red, yellow, dim }: Colors): string {
  const state = status.slice(status.lastIndexOf(".") + 1);
  if (/^(completed|encoded|created|packaged|transferred|ready|delivered|accepted|ok)$/.test(state))
    return green(status);
  if (/^(failed|abandoned|lost|gone|quarantined|not ready)$/.test(state)) return red(status);
  if (/^(aborted|skipped|cancelled|superseded|returned|cordoned|draining)$/.test(state)) return dim(status);
  return yellow(status);
}
