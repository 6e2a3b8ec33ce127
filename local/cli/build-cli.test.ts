import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { buildCli } from "./build-cli.ts";

const folder = fileFolder();
beforeAll(async () => {
  await buildCli(join(folder, "package"));
});

/** Node programs to try: the tests' own, and the machine's, which may be older. */
const NODES = [process.execPath, "/usr/bin/node"].filter((path) => statSync(path, { throwIfNoEntry: false }));
const program = (): string => join(folder, "package", "copra.mjs");

it("keeps the package of the command line below 2 MB", () => {
  const files = readdirSync(join(folder, "package"));
  const bytes = files.reduce((sum, file) => sum + statSync(join(folder, "package", file)).size, 0);
  expect(bytes).toBeLessThan(2e6);
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "copra.mjs", "package.json"]));
});

it("loads less than 100 kB of code before it knows the command", () => {
  // Node lists the scripts that it has run in this folder.
  const coverage = join(folder, "coverage");
  const env = { NODE_V8_COVERAGE: coverage };
  const help = execFileSync(process.execPath, [program(), "--help"], { env, encoding: "utf8" });
  expect(help).toContain("Encode a file or URL and wait for the results");
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), "utf8"));
    return result.map(({ url }: { url: string }) => url).filter((url: string) => url.startsWith("file:"));
  });
  expect(urls).toContain(pathToFileURL(program()).href);
  expect(urls.reduce((sum, url) => sum + statSync(new URL(url)).size, 0)).toBeLessThan(100_000);
});

it.each(NODES)("runs commands outside of the repository with %s", (node) => {
  const env = { PATH: "", HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
  const run = (...args: string[]): string =>
    execFileSync(node, [program(), ...args], { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
  expect(JSON.parse(run("profiles", "--json"))).toEqual({ profiles: [] });
  expect(run("webhooks", "listen", "--print-secret")).toMatch(/^whsec_/);
  expect(run("completion", "bash")).toContain("_copra()");
  expect(() => run("dev")).toThrow("This command needs Copra's repository");
  expect(() => run("jobs")).toThrow("There is no service to talk to");
});
