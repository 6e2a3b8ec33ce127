// The inputs of a deploy: arguments, environment, and questions to the operator.
import { parseArgs } from "node:util";
import * as z from "zod";
import type { Rotation } from "./master-secret.ts";
import type { Wrangler } from "./wrangler.ts";

export type DeployOptions = {
  readonly run: Wrangler;
  /** The command's own arguments (`readArguments`), and arguments for `wrangler deploy`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  /** Builds the files that the Worker serves. */
  readonly buildAssets: () => Promise<unknown>;
  /** Asks the operator for a secret. Throws if nobody can be asked. */
  readonly ask: (name: string) => Promise<string>;
  /** Asks the operator for the account's name at workers.dev. Throws if nobody can be asked. */
  readonly askSubdomain: () => Promise<string>;
  readonly stateFile?: string;
  /** Sends requests to the deployed service. */
  readonly fetch?: typeof fetch;
};

/** Regions of D1 (Cloudflare docs, "Data location"). */
const Location = z.enum(["wnam", "enam", "weur", "eeur", "apac", "oc"]);
export type Location = z.infer<typeof Location>;

export type Arguments = {
  readonly isDry: boolean;
  readonly isForced: boolean;
  /** Puts a new master secret before the others, or removes all but the first. */
  readonly rotation: Rotation;
  /** The account's name at workers.dev, if it has none yet. */
  readonly subdomain: string | undefined;
  /** The location of a new database. */
  readonly location: Location | undefined;
  /** The folder for the bundles. */
  readonly outdir: string | undefined;
  readonly extra: readonly string[];
};

/** Separates this command's arguments from the others. Throws a message for people. */
export function readArguments(args: readonly string[]): Arguments {
  const own = {
    "dry-run": { type: "boolean" },
    force: { type: "boolean" },
    "rotate-master-secret": { type: "boolean" },
    "drop-old-master-secret": { type: "boolean" },
    subdomain: { type: "string" },
    location: { type: "string" },
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
    subdomain: text(values.subdomain),
    location: locationOf(text(values.location)),
    outdir: text(values.outdir),
    extra: args.filter((_, at) => !used.has(at)),
  };
}

const text = (value: string | boolean | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

function locationOf(name: string | undefined): Location | undefined {
  const location = Location.optional().safeParse(name);
  if (location.success) return location.data;
  throw new Error(`--location must be one of ${Location.options.join(", ")}`);
}
