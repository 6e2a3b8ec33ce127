// What a deploy gets: its arguments, its environment, and how it speaks to the operator.
import { parseArgs } from "node:util";
import type { Rotation } from "./master-secret.ts";
import type { Wrangler } from "./wrangler.ts";

export type DeployOptions = {
  readonly run: Wrangler;
  /** `--dry-run`, `--outdir <folder>` for the bundles, `--force`; what follows goes to `wrangler deploy`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  /** Asks the operator for a secret. Throws when nobody can be asked. */
  readonly ask: (name: string) => Promise<string>;
  readonly stateFile?: string;
  /** Requests to the service that was deployed. */
  readonly fetch?: typeof fetch;
};

type Arguments = {
  readonly isDry: boolean;
  readonly isForced: boolean;
  /** Puts a new master secret before the others, or removes all but the first. */
  readonly rotation: Rotation;
  readonly outdir: string | undefined;
  readonly extra: readonly string[];
};

/** Takes what is for this command out of the arguments. */
export function readArguments(args: readonly string[]): Arguments {
  const own = {
    "dry-run": { type: "boolean" },
    force: { type: "boolean" },
    "rotate-master-secret": { type: "boolean" },
    "drop-old-master-secret": { type: "boolean" },
    outdir: { type: "string" },
  } as const;
  const { values, tokens } = parseArgs({ args: [...args], options: own, strict: false, tokens: true });
  const used = new Set(
    tokens.flatMap((token) =>
      token.kind === "option" && token.name in own
        ? [token.index, ...(token.value !== undefined && !token.inlineValue ? [token.index + 1] : [])]
        : [],
    ),
  );
  return {
    isDry: values["dry-run"] === true,
    isForced: values.force === true,
    rotation:
      values["rotate-master-secret"] === true ? "add" : values["drop-old-master-secret"] === true ? "drop" : null,
    outdir: typeof values.outdir === "string" ? values.outdir : undefined,
    extra: args.filter((_, at) => !used.has(at)),
  };
}
