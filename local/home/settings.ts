// The environment variables of the local system.
import { resolve } from "node:path";
import * as z from "zod";
import type { ServiceSettings } from "./service-settings.ts";

type Env = Readonly<Record<string, string | undefined>>;

const wholeNumber = (most: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .refine((value) => value <= most)
    .default(fallback);

/** The allowed values of each variable, for error messages. */
const ALLOWED = {
  COPRA_HOME: "a folder",
  COPRA_PORT: "a port, 1 to 65535, or 0 for any free port",
  COPRA_S3_PORT: "a port, 1 to 65535, or 0 for any free port",
  COPRA_NODES: "a whole number, 0 to 64",
} as const;

const Environment = z.object({
  COPRA_HOME: z.string().default(".copra"),
  COPRA_PORT: wholeNumber(65535, 8787),
  COPRA_S3_PORT: wholeNumber(65535, 9000),
  COPRA_NODES: wholeNumber(64, 1),
});

export type StackSettings = {
  /** Absolute path of the folder with all data of the local system. */
  readonly home: string;
  /** 0 means any free port, also for `s3Port`. */
  readonly port: number;
  readonly s3Port: number;
  /** The number of encoder nodes to run. */
  readonly nodes: number;
  /** The URLs and networks of the stack; by default, the local system's. */
  readonly service?: ServiceSettings;
  /** True if the processes log to standard error. By default they log to files in the home folder. */
  readonly logsToStderr?: boolean;
};

/**
 * The settings in `env`; unset and empty variables have their defaults. Throws a message that names the wrong
 * variables.
 */
export function readSettings(env: Env): StackSettings {
  const variables = Object.keys(ALLOWED).map((name) => [name, env[name]?.trim() || undefined] as const);
  const parsed = Environment.safeParse(Object.fromEntries(variables));
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
    throw new Error([...names].map((name) => errorMessage(name, env[name])).join(" "));
  }
  const { COPRA_HOME, COPRA_PORT, COPRA_S3_PORT, COPRA_NODES } = parsed.data;
  return { home: resolve(COPRA_HOME), port: COPRA_PORT, s3Port: COPRA_S3_PORT, nodes: COPRA_NODES };
}

function errorMessage(name: string, value: string | undefined): string {
  const allowed = Object.entries(ALLOWED).find(([known]) => known === name)?.[1];
  return `${name} must be ${allowed}, not "${value}".`;
}
