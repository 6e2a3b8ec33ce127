// What the local system can be told through environment variables.
import { resolve } from "node:path";
import * as z from "zod";

type Env = Readonly<Record<string, string | undefined>>;

const wholeNumber = (most: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .refine((value) => value <= most)
    .default(fallback);

/** One sentence per variable, for the person who got it wrong. */
const WANTED = {
  COPRA_HOME: "a folder",
  COPRA_PORT: "a port, 1 to 65535, or 0 for any free one",
  COPRA_S3_PORT: "a port, 1 to 65535, or 0 for any free one",
  COPRA_NODES: "a whole number, 0 to 64",
} as const;

const Environment = z.object({
  COPRA_HOME: z.string().default(".copra"),
  COPRA_PORT: wholeNumber(65535, 8787),
  COPRA_S3_PORT: wholeNumber(65535, 9000),
  COPRA_NODES: wholeNumber(64, 1),
});

export type StackSettings = {
  /** Absolute path of the folder that holds everything the local system keeps. */
  readonly home: string;
  /** 0 stands for any free port, here and in `s3Port`. */
  readonly port: number;
  readonly s3Port: number;
  /** How many encoder nodes to run. */
  readonly nodes: number;
};

/** The settings in `env`; what is unset or empty has its default. Throws a sentence that names the wrong variables. */
export function readSettings(env: Env): StackSettings {
  const given = Object.keys(WANTED).map((name) => [name, env[name]?.trim() || undefined] as const);
  const parsed = Environment.safeParse(Object.fromEntries(given));
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
    throw new Error([...names].map((name) => complaint(name, env[name])).join(" "));
  }
  const { COPRA_HOME, COPRA_PORT, COPRA_S3_PORT, COPRA_NODES } = parsed.data;
  return { home: resolve(COPRA_HOME), port: COPRA_PORT, s3Port: COPRA_S3_PORT, nodes: COPRA_NODES };
}

function complaint(name: string, value: string | undefined): string {
  const wanted = Object.entries(WANTED).find(([known]) => known === name)?.[1];
  return `${name} must be ${wanted}, not "${value}".`;
}
