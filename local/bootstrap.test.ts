import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { build } from "esbuild";
import { beforeEach, describe, expect, it } from "vitest";
import { emptiedFolder } from "../test/fixtures.ts";
import { ROOT } from "./home/constants.ts";

/** A repository with a lock file, and a fake npm that installs its packages and records its calls. */
const root = emptiedFolder();

const FAKE_NPM = `#!/bin/sh
echo "$*" >> npm-calls
sleep 0.3
[ "$1" = ci ] && [ -e refuse-ci ] && exit 1
mkdir -p node_modules
cp package-lock.json node_modules/.package-lock.json
`;
const lock = (version: string): string =>
  JSON.stringify({
    packages: {
      "": { name: "repository" },
      "node_modules/thing": { version },
      "node_modules/thing-for-another-machine": { version, optional: true },
    },
  });

beforeEach(() => {
  for (const folder of ["local", "bin"]) mkdirSync(join(root, folder));
  copyFileSync(join(ROOT, "local", "bootstrap.mjs"), join(root, "local", "bootstrap.mjs"));
  writeFileSync(join(root, "bin", "npm"), FAKE_NPM);
  chmodSync(join(root, "bin", "npm"), 0o755);
  writeFileSync(join(root, "package-lock.json"), lock("1.0.0"));
});

const start = (program: string, ...argv: string[]): ChildProcess => startScript("program.ts", program, argv);

function startScript(name: string, program: string, argv: string[], env: Record<string, string> = {}): ChildProcess {
  writeFileSync(join(root, name), program);
  const PATH = [join(root, "bin"), process.env.PATH ?? ""].join(delimiter);
  return spawn(process.execPath, ["local/bootstrap.mjs", name, ...argv], {
    cwd: root,
    env: { ...process.env, ...env, PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
async function end(child: ChildProcess): Promise<{ code: unknown; out: string }> {
  const out = child.stdout ? text(child.stdout) : "";
  const [code] = await once(child, "exit");
  return { code, out: await out };
}
const npmCalls = (): string[] =>
  existsSync(join(root, "npm-calls")) ? readFileSync(join(root, "npm-calls"), "utf8").trim().split("\n") : [];
const CI = "ci --no-audit --no-fund --loglevel=error";

describe("installing", () => {
  it("installs before the first run, and again only after a change of the lock file", async () => {
    expect((await end(start("console.log('ran')"))).out).toBe("ran\n");
    await end(start(""));
    expect(npmCalls()).toEqual([CI]);
    writeFileSync(join(root, "package-lock.json"), lock("1.0.1"));
    await end(start(""));
    await end(start(""));
    expect(npmCalls()).toEqual([CI, CI]);
  });

  it("installs tools for development only for scripts that need them, and deletes nothing to add them", async () => {
    const tool = { "node_modules/tool": { version: "1.0.0", dev: true } };
    writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages: tool }));
    for (const script of ["local/start.ts", "local/demo.ts"]) await end(startScript(script, "", []));
    expect(npmCalls()).toEqual([CI.replace("ci", "ci --omit=dev")]);
    writeFileSync(join(root, "node_modules", ".package-lock.json"), JSON.stringify({ packages: {} }));
    await end(startScript("local/start.ts", "", []));
    expect(npmCalls()).toHaveLength(1);
    await end(start(""));
    expect(npmCalls().slice(1)).toEqual([CI.replace("ci", "install --no-save")]);
  });

  it("runs and deploys the system without packages for development", async () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const text = readFileSync(join(ROOT, "local", "bootstrap.mjs"), "utf8");
    const scripts = [...text.matchAll(/"((?:local|cli|encoder-node)\/[\w/-]+\.ts)"/g)].map(([, script = ""]) => script);
    expect(scripts).toContain("local/assets/assets.ts");
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: scripts,
      bundle: true,
      write: false,
      outdir: "unused",
      splitting: true,
      metafile: true,
      format: "esm",
      platform: "node",
      packages: "external",
      loader: { ".sql": "text" },
      logLevel: "error",
    });
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external),
    );
    const packages = new Set(imported.map(({ path }) => /^(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? ""));
    expect(packages).toContain("esbuild");
    expect(Object.keys(devDependencies).filter((name) => packages.has(name))).toEqual([]);
  });

  it("deletes source maps of players and C headers, and nothing that a build reads", async () => {
    const folder = `node-${process.platform}-${process.arch}`;
    const files = [`${folder}/include/node.h`, "hls.js/dist/hls.mjs.map", "hls.js/dist/hls.mjs", `${folder}/bin/node`];
    for (const file of files) {
      mkdirSync(join(root, "node_modules", dirname(file)), { recursive: true });
      writeFileSync(join(root, "node_modules", file), "");
    }
    await end(start(""));
    expect(files.map((file) => existsSync(join(root, "node_modules", file)))).toEqual([false, false, true, true]);
  });

  it("does not require tools for development in production", async () => {
    const packages = { "node_modules/thing": { version: "1.0.0" } };
    mkdirSync(join(root, "node_modules"));
    writeFileSync(join(root, "node_modules", ".package-lock.json"), JSON.stringify({ packages }));
    const tool = { "node_modules/tool": { version: "1.0.0", dev: true } };
    writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages: { ...packages, ...tool } }));
    await end(startScript("program.ts", "", [], { NODE_ENV: "production" }));
    expect(npmCalls()).toEqual([]);
    await end(startScript("program.ts", "", [], { NODE_ENV: "" }));
    expect(npmCalls()).toEqual([CI.replace("ci", "install --no-save")]);
  });

  it("uses npm install when npm ci rejects the lock file", async () => {
    writeFileSync(join(root, "refuse-ci"), "");
    expect((await end(start("console.log('ran')"))).out).toBe("ran\n");
    expect(npmCalls()).toEqual([CI, CI.replace("ci", "install --no-save")]);
  });

  it("accepts missing optional packages, and a missing lock file", async () => {
    mkdirSync(join(root, "node_modules"));
    const installed = { packages: { "node_modules/thing": { version: "1.0.0" } } };
    writeFileSync(join(root, "node_modules", ".package-lock.json"), JSON.stringify(installed));
    await end(start(""));
    rmSync(join(root, "package-lock.json"));
    await end(start(""));
    expect(npmCalls()).toEqual([]);
  });

  it("installs once when two runs start at the same time", async () => {
    const runs = await Promise.all([end(start("console.log(1)")), end(start("console.log(1)"))]);
    expect(runs).toEqual(Array(2).fill({ code: 0, out: "1\n" }));
    expect(npmCalls()).toEqual([CI]);
  });

  it("installs once after runs were killed, one during its install and one as it removed a stale lock", async () => {
    const dead = start("");
    await end(dead);
    writeFileSync(join(root, "package-lock.json"), lock("2.0.0"));
    const stale = join(root, ".copra", "install.lock");
    writeFileSync(stale, String(dead.pid));
    mkdirSync(`${stale}.turn`);
    utimesSync(`${stale}.turn`, 0, 0);
    const runs = await Promise.all([1, 2, 3].map(() => end(start("console.log(1)"))));
    expect(runs).toEqual(Array(3).fill({ code: 0, out: "1\n" }));
    expect(npmCalls()).toEqual([CI, CI]);
  });
});

describe("running", () => {
  it("passes on arguments and the exit code, with the packages' programs first in PATH", async () => {
    const program = "console.log(process.argv.slice(2).join('|'), process.env.PATH.split(':')[0]); process.exit(7)";
    const { code, out } = await end(start(program, "--a b", "c"));
    expect([code, out]).toEqual([7, `--a b|c ${join(root, "node_modules", ".bin")}\n`]);
  });

  it.skipIf(process.platform !== "linux").each<[string, string[], Record<string, string>, string[]]>([
    ["the environment", ["--slots", "2"], { COPRA_NODE_TOKEN: "n-1" }, ["--slots", "2"]],
    ["an argument", ["--token", "n-1", "--slots", "2"], {}, ["--slots", "2"]],
    ["an argument with =", ["--token=n-1", "--token-file-not"], { COPRA_NODE_TOKEN: "n-2" }, ["--token-file-not"]],
  ])("passes a node's token from %s where no other process can read it", async (_from, args, env, argv) => {
    mkdirSync(join(root, "encoder-node"));
    const program = `
      import { readFileSync } from "node:fs";
      const token = readFileSync(Number(process.env.COPRA_NODE_TOKEN_FD), "utf8");
      const open = ["environ", "cmdline"].map((name) => readFileSync("/proc/self/" + name, "utf8")).join();
      console.log(JSON.stringify({ token, argv: process.argv.slice(2), isOpen: /n-\\d|NODE_TOKEN=/.test(open) }));
    `;
    const { out } = await end(startScript("encoder-node/main.ts", program, args, env));
    expect(JSON.parse(out)).toEqual({ token: "n-1", argv, isOpen: false });
  });

  it.each(["SIGINT", "SIGTERM"] as const)("passes on the signal %s", async (signal) => {
    const child = start(`
      setInterval(() => {}, 1000);
      process.on("${signal}", () => { console.log("stopping"); process.exit(3); });
      console.log("ready");
    `);
    child.stdout?.once("data", () => child.kill(signal));
    const { code, out } = await end(child);
    expect([code, out]).toEqual([3, "ready\nstopping\n"]);
  });

  it("exits with the status of a shell when the program is killed", async () => {
    expect((await end(start("process.kill(process.pid, 'SIGKILL')"))).code).toBe(137);
  });
});
