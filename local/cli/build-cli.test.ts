import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildCli } from "./build-cli.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "copra-cli-package-"));
  await buildCli(join(folder, "package"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Nodes to try: that of the tests, and the machine's own, which may be older. */
const NODES = [process.execPath, "/usr/bin/node"].filter((path) => statSync(path, { throwIfNoEntry: false }));
const program = (): string => join(folder, "package", "copra.mjs");

it("is smaller than 2 MB", () => {
  const files = readdirSync(join(folder, "package"));
  const bytes = files.reduce((sum, file) => sum + statSync(join(folder, "package", file)).size, 0);
  expect(bytes).toBeLessThan(2e6);
  expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "copra.mjs", "package.json"]));
});

it.each(NODES)("starts within 120 ms of processor time in %s", (node) => {
  const measure = `process.on("exit",()=>{const u=process.cpuUsage();process.stdout.write("\\n"+(u.user+u.system)/1000)})`;
  const times = Array.from({ length: 5 }, () => {
    const output = execFileSync(
      node,
      ["--import", `data:text/javascript,${encodeURIComponent(measure)}`, program(), "--help"],
      {
        encoding: "utf8",
      },
    );
    expect(output).toContain("encode [options] [source]");
    return Number(output.split("\n").at(-1));
  });
  expect(Math.min(...times)).toBeLessThan(120);
});

it.each(NODES)("runs commands outside of the repository in %s", (node) => {
  const env = { PATH: "", HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder };
  const run = (...args: string[]): string =>
    execFileSync(node, [program(), ...args], { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
  expect(JSON.parse(run("profiles", "--json"))).toEqual({ profiles: [] });
  expect(run("webhooks", "listen", "--print-secret")).toMatch(/^whsec_/);
  expect(run("completion", "bash")).toContain("_copra()");
  expect(() => run("dev")).toThrow("This command needs Copra's repository");
  expect(() => run("jobs")).toThrow("There is no service to talk to");
});
