// Runs wrangler, and asks it what is deployed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";
import type { Deployed } from "./configs.ts";

export type WranglerResult = { readonly code: number; readonly stdout: string; readonly stderr: string };
export type Wrangler = (args: readonly string[], show?: boolean) => Promise<WranglerResult>;

/** Runs wrangler; with `show` its output appears as it comes. */
export const wrangler: Wrangler = async (args, show = false) => {
  const script = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
  const child = spawn(process.execPath, [script, ...args], { cwd: ROOT, stdio: ["inherit", "pipe", "pipe"] });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.on("data", (data: Buffer) => {
    stdout.push(data.toString());
    if (show) process.stdout.write(data);
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr.push(data.toString());
    if (show) process.stderr.write(data);
  });
  const [code] = await once(child, "close");
  return { code: typeof code === "number" ? code : 1, stdout: stdout.join(""), stderr: stderr.join("") };
};

/** Cloudflare's code for a Worker that does not exist, and wrangler's message for one that was never deployed. */
const NOT_DEPLOYED = /\[code: 10007\]|has no deployments/;

const Deployment = z.object({ versions: z.array(z.object({ version_id: z.string() })) });
const Version = z.object({
  annotations: z.looseObject({ "workers/tag": z.string().optional() }).optional(),
  resources: z.object({ script_runtime: z.object({ migration_tag: z.string().optional() }).optional() }).optional(),
});

/** What is deployed of a Worker. Throws wrangler's message if it cannot be known. */
export async function deployedOf(run: Wrangler, name: string): Promise<Deployed> {
  const status = await run(["deployments", "status", "--name", name, "--json"]);
  if (status.code !== 0) {
    if (NOT_DEPLOYED.test(status.stdout + status.stderr)) return null;
    throw new Error(status.stderr || status.stdout);
  }
  const [newest] = Deployment.parse(JSON.parse(status.stdout)).versions;
  if (!newest) return null;
  const view = await run(["versions", "view", newest.version_id, "--name", name, "--json"]);
  if (view.code !== 0) throw new Error(view.stderr || view.stdout);
  const { annotations, resources } = Version.parse(JSON.parse(view.stdout));
  // A Worker that has only secrets has had no migration.
  const migration = resources?.script_runtime?.migration_tag;
  return migration === undefined ? null : { tag: annotations?.["workers/tag"] ?? null, migration };
}

const Secrets = z.array(z.object({ name: z.string() }));

/** The names of a Worker's secrets; none for one that does not exist. */
export async function secretsOf(run: Wrangler, name: string): Promise<string[]> {
  const { code, stdout } = await run(["secret", "list", "--name", name, "--format", "json"]);
  return code === 0 ? Secrets.parse(JSON.parse(stdout)).map((secret) => secret.name) : [];
}
