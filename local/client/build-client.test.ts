import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildClient, bundled, CLIENT } from "./build-client.ts";

const run = promisify(execFile);
let project = "";

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "copra-client-"));
  await buildClient(join(project, "node_modules/@copra/client"));
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
});

afterAll(() => rm(project, { recursive: true, force: true }));

it("has at most 6 kB, compressed, for all but the operator's client", async () => {
  const sizes = await Promise.all(["index", "webhook"].map(async (entry) => gzipSync(await bundled(entry)).byteLength));
  expect(sizes[0]).toBeLessThan(6000);
  expect(sizes[1]).toBeLessThan(1000);
});

it("has types that are up to date with the schemas of the API", async () => {
  const script = join(CLIENT, "../local/client/write-types.ts");
  await expect(run(execPath, [script, "--check"])).resolves.toMatchObject({ stderr: "" });
});

it("imports nothing from outside of the package", async () => {
  const dist = join(project, "node_modules/@copra/client/dist");
  const files = (await readdir(dist, { recursive: true })).filter((file) => /\.(js|ts)$/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(join(dist, file), "utf8")));
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(([, name]) => name),
  );
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((name) => !/^\.\.?\/.*\.js$/.test(name ?? ""))).toEqual([]);
});

it("runs as it is published", async () => {
  const code = `
    import { Copra, CopraError, verifyWebhook } from "@copra/client";
    import { CopraAdmin } from "@copra/client/admin";
    import { verifyWebhook as same } from "@copra/client/webhook";
    console.log([new Copra({ url: "https://a", key: "k" }).jobs, new CopraAdmin({ url: "https://a", token: "t" }),
      CopraError, same === verifyWebhook].map((one) => typeof one).join());`;
  const { stdout } = await run(execPath, ["--input-type=module", "-e", code], { cwd: project });
  expect(stdout.trim()).toBe("object,object,function,boolean");
});

it("gives strict consumers the same types", async () => {
  const source = await readFile(join(CLIENT, "requests.test.ts"), "utf8");
  const start = source.indexOf("const input =");
  const end = source.indexOf("\nit(");
  const types = 'import type { Copra } from "@copra/client";\nimport { CopraAdmin } from "@copra/client/admin";\n';
  await writeFile(join(project, "consumer.ts"), `${types}${source.slice(start, end)}\nexport { CopraAdmin };\n`);
  const options = [
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--lib",
    "es2022,dom,dom.asynciterable",
  ];
  const tsc = join(CLIENT, "../node_modules/typescript/bin/tsc");
  const checked = run(execPath, [tsc, ...options, "consumer.ts"], { cwd: project });
  await expect(checked.catch(({ stdout }) => stdout)).resolves.toEqual({ stdout: "", stderr: "" });
});
