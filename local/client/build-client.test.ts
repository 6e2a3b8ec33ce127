import { execFile } from "node:child_process";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { parseFormat } from "#shared/format/parse-format.ts";
import { formatTexts } from "#shared/testing/arbitrary-format.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { problemsOf, publishable } from "../package/build-release.ts";
import { buildClient, bundled, CLIENT } from "./build-client.ts";

const run = promisify(execFile);
const project = fileFolder();

beforeAll(async () => {
  await buildClient(join(project, "node_modules/@copra/client"));
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
});

it("keeps the client without the operator's part below 6 kB, compressed", async () => {
  const sizes = await Promise.all(["index", "webhook"].map(async (entry) => gzipSync(await bundled(entry)).byteLength));
  expect(sizes[0]).toBeLessThan(6000);
  expect(sizes[1]).toBeLessThan(1000);
});

it("imports nothing from outside of the package", async () => {
  const dist = join(project, "node_modules/@copra/client/dist");
  const files = (await readdir(dist, { recursive: true })).filter((file) => /\.(js|ts)$/.test(file));
  const texts = await Promise.all(files.map((file) => readFile(join(dist, file), "utf8")));
  const imported = texts.flatMap((text) =>
    [...text.matchAll(/(?:from|import\()\s*"([^"\s]+)"/g)].map(([, name]) => name),
  );
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((name) => !/^(\.\.?\/.*\.js|node:\w+(\/\w+)?)$/.test(name ?? ""))).toEqual([]);
});

it("can be published: npm, Node and bundlers find all files of its manifest", async () => {
  const folder = join(project, "node_modules/@copra/client");
  expect(await problemsOf(folder)).toEqual([]);
  const copy = join(project, "published");
  await cp(folder, copy, { recursive: true });
  await publishable(copy, "@somebody/copra-client", "https://forge.example/somebody/copra");
  expect(await problemsOf(copy)).toEqual([]);
  expect(JSON.parse(await readFile(join(copy, "package.json"), "utf8"))).toMatchObject({
    name: "@somebody/copra-client",
    repository: { type: "git", url: "git+https://forge.example/somebody/copra.git" },
    publishConfig: { access: "public" },
  });
  await rm(join(copy, "dist/webhook.js"));
  expect(await problemsOf(copy)).toEqual([expect.stringContaining("./dist/webhook.js")]);
});

it("runs in its published form", async () => {
  const code = `
    import { Copra, CopraError, verifyWebhook } from "@copra/client";
    import { CopraAdmin } from "@copra/client/admin";
    import { verifyWebhook as same } from "@copra/client/webhook";
    console.log([new Copra({ url: "https://a", key: "k" }).jobs, new CopraAdmin({ url: "https://a", token: "t" }),
      CopraError, same === verifyWebhook].map((value) => typeof value).join());`;
  const { stdout } = await run(execPath, ["--input-type=module", "-e", code], { cwd: project });
  expect(stdout.trim()).toBe("object,object,function,boolean");
});

/** The compiler's messages for a file of a project that uses the package. */
async function compiled(name: string, source: string): Promise<{ stdout: string; stderr: string }> {
  await writeFile(join(project, name), source);
  const lib = ["--target", "es2022", "--lib", "es2022,dom,dom.asynciterable"];
  const tsc = join(CLIENT, "../node_modules/typescript/bin/tsc");
  const checked = run(execPath, [tsc, "--noEmit", "--strict", "--module", "nodenext", ...lib, name], { cwd: project });
  return checked.catch(({ stdout, stderr }) => ({ stdout, stderr }));
}

it("gives strict consumers the same types", async () => {
  const source = await readFile(join(CLIENT, "requests.test.ts"), "utf8");
  const calls = source.slice(source.indexOf("const input ="), source.indexOf("\nit("));
  const types =
    'import type { Copra, NotificationPayload } from "@copra/client";\nexport { CopraAdmin } from "@copra/client/admin";\n';
  expect(await compiled("consumer.ts", `${types}${calls}`)).toEqual({ stdout: "", stderr: "" });
});

it("has types that accept all formats of the service", async () => {
  const texts = fc.sample(formatTexts, { seed: 1, numRuns: 4000 }).filter((text) => parseFormat(text).ok);
  const formats = [...new Set(texts)];
  expect(formats.length).toBeGreaterThan(200);
  const uses = formats.map((format, at) => `export const f${at}: ParamsOf<${JSON.stringify(format)}> = { path: "a" };`);
  const source = ['import type { ParamsOf } from "@copra/client";', ...uses].join("\n");
  expect(await compiled("formats.ts", source)).toEqual({ stdout: "", stderr: "" });
});
