// The npm package for a user who has only Node.js and npm. Installed from its tarball into an empty folder, it serves,
// encodes, and joins as a node.
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { VERSION } from "#shared/version.ts";
import { ROOT } from "../../local/home/constants.ts";
import { readStackFile, type StackFile } from "../../local/home/stack-file.ts";
import { findFree } from "../../local/stack/ports.ts";
import { fileFolder } from "../fixtures.ts";
import { makeLongClip } from "../media.ts";

const folder = fileFolder();
/** A folder without sources. Its PATH does not lead to the repository's programs either. */
let place: string;
let tarball: string;
const running: ChildProcess[] = [];
beforeAll(async () => {
  place = join(folder, "place");
  mkdirSync(place);
  execFileSync("npm", ["run", "package:build", "--", join(folder, "package")], { cwd: ROOT, stdio: "pipe" });
  const pack = ["pack", "--json", "--pack-destination", folder];
  execFileSync("npm", pack, { cwd: join(folder, "package"), stdio: "pipe" });
  tarball = join(folder, `copra-${VERSION}.tgz`);
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", tarball];
  await promisify(execFile)("npm", install, { cwd: place, env: env() });
});
afterAll(async () => {
  for (const child of running.toReversed()) await end(child);
});

/** The environment of a user with the system's Node.js, if any, which is older than the service requires. */
const env = (): Record<string, string> => {
  const inherited = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_\w+|HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i.test(name),
  );
  const folders = (process.env.PATH ?? "").split(":").filter((path) => !path.startsWith(ROOT));
  const values = inherited.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(values), HOME: process.env.HOME ?? folder, PATH: folders.join(":") };
};

const program = (): string => join(place, "node_modules", ".bin", "copra");
const copra = async (argv: readonly string[], home: string): Promise<string> =>
  (await promisify(execFile)(program(), [...argv], { cwd: place, env: { ...env(), COPRA_HOME: home } })).stdout;

function start(...argv: string[]): { child: ChildProcess; output(): string } {
  const child = spawn(program(), argv, { cwd: place, env: env() });
  running.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  return { child, output: () => output };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}

it("contains no sources or tools, and is small", () => {
  const root = join(place, "node_modules", "copra");
  const files = readdirSync(root, { recursive: true }).map(String);
  expect(files.filter((file) => /(?<!\.d)\.tsx?$/.test(file))).toEqual([]);
  for (const name of ["esbuild", "wrangler", "typescript"]) {
    expect(existsSync(join(place, "node_modules", name))).toBe(false);
  }
  expect(statSync(tarball).size).toBeLessThan(6e6);
  expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE", "NOTICE", "THIRD-PARTY-LICENSES.txt"]));
});

it("contains the typed client as copra/client, for Node and for the compiler", async () => {
  const program = `
import { Copra } from "copra/client";
import { CopraAdmin } from "copra/client/admin";
import { fileSource } from "copra/client/node";
import { verifyWebhook } from "copra/client/webhook";
const copra = new Copra({ url: "http://127.0.0.1:1", key: "k", retries: 0 });
console.log(typeof CopraAdmin, typeof fileSource, typeof verifyWebhook);
console.log(await copra.health().catch(({ code }) => code));
`;
  writeFileSync(join(place, "client.mjs"), program);
  const { stdout } = await promisify(execFile)(process.execPath, ["client.mjs"], { cwd: place, env: env() });
  expect(stdout).toBe("function function function\nnetwork_error\n");
  const misspelled = `${program}\n// @ts-expect-error: a misspelled format\nvoid copra.jobs.plan({ outputs: { "mp4:72Op": {} } });`;
  writeFileSync(join(place, "client.mts"), misspelled.replace("({ code })", "({ code }: { code: string })"));
  const strict = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2024,dom"];
  const tsc = [join(ROOT, "node_modules/typescript/bin/tsc"), ...strict, "--types", "", "client.mts"];
  await promisify(execFile)(process.execPath, tsc, { cwd: place });
});

it("serves guides and dashboard, encodes on a joined node, and makes a backup", async () => {
  const home = join(folder, "data");
  const [port, s3Port] = [await findFree(), await findFree()];
  const ports = ["--port", String(port), "--s3-port", String(s3Port)];
  const served = start("serve", "--data", home, ...ports, "--nodes", "0", "--isolation", "best-effort");
  await expect.poll(served.output).toContain("Copra runs.");
  const { api, nodeToken } = readStackFile(home) as StackFile;
  const origin = new URL(api).origin;
  expect(await (await fetch(`${origin}/docs/self-hosting`)).text()).toContain("copra serve");
  expect(await (await fetch(`${origin}/dashboard`)).text()).toContain('content="npx --no copra"');

  writeFileSync(join(folder, "token"), nodeToken, { mode: 0o600 });
  const node = start(
    ...["node", "--url", origin, "--token-file", join(folder, "token"), "--work", join(folder, "work")],
    ...["--name", "joined", "--allow-private", "loopback"],
  );
  await expect.poll(node.output).toContain("control plane connected");
  const clip = await makeLongClip(folder, 5, "320x180");
  await copra(["encode", clip, "--to", "mp4:160x90", "-o", join(folder, "out")], home);
  const [name = ""] = readdirSync(join(folder, "out"));
  expect(statSync(join(folder, "out", name)).size).toBeGreaterThan(10_000);
  expect(node.output()).toContain('"message":"task completed"');

  expect(await copra(["backup", home, "-o", join(folder, "backup.tar.gz")], home)).toMatch(/stood still for \d+ ms/);
  await expect(copra(["dev"], home)).rejects.toThrow("This command needs Copra's repository");
  await end(node.child);
  await end(served.child);
  expect([served.child.exitCode, readFileSync(join(home, "control-plane.log"), "utf8")]).toEqual([
    0,
    expect.not.stringContaining('"level":"error"'),
  ]);
});
