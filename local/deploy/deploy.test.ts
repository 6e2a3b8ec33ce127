import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hubConfig, hubTag, mainConfig, planDeploy, readConfig } from "./configs.ts";
import { deploy } from "./run-deploy.ts";
import { deployedOf, type Wrangler, wrangler } from "./wrangler.ts";

const CONFIG = readConfig();
const NEW = { worker: "hub", hasJobs: true } as const;
const main = (hadHub: boolean) => ({ worker: "main", hadHub }) as const;

describe("a deploy", () => {
  it.each([
    [
      "of a new service makes the hub first, which the main Worker names, and names its jobs last",
      null,
      null,
      [...[{ worker: "hub", hasJobs: false }, main(false), NEW]],
    ],
    [
      "of a service with the hub in the main Worker makes the hub first",
      { tag: null, migration: "v2" },
      null,
      [...[NEW, main(true)]],
    ],
    [
      "leaves a hub alone that has not changed",
      { tag: null, migration: "v2-hub" },
      { tag: "hub-1", migration: "v1" },
      [main(true)],
    ],
    [
      "replaces a hub that has changed, or whose secrets have",
      { tag: null, migration: "v2-hub" },
      { tag: null, migration: "v1" },
      [...[NEW, main(true)]],
    ],
  ])("%s", (_, deployed, hub, steps) => {
    expect(planDeploy(deployed, hub, "hub-1")).toEqual(steps);
  });

  it("gives each Worker its objects, and the other's by name", () => {
    expect(mainConfig(CONFIG, true)).toMatchObject({
      name: "copra",
      durable_objects: {
        bindings: [
          { name: "JOB", class_name: "JobObject" },
          { name: "HUB", class_name: "NodeHub", script_name: "copra-hub" },
          { name: "ACCOUNT", class_name: "AccountObject" },
        ],
      },
      migrations: [{ tag: "v1" }, { tag: "v2" }, { tag: "v2-hub", deleted_classes: ["NodeHub"] }],
    });
    // A new service never had the hub in its main Worker.
    expect(mainConfig(CONFIG, false)).toMatchObject({
      migrations: [
        { tag: "v1", new_sqlite_classes: ["JobObject"] },
        { tag: "v2", new_sqlite_classes: ["AccountObject"] },
        { tag: "v2-hub" },
      ],
    });
    expect(hubConfig(CONFIG, true)).toMatchObject({
      name: "copra-hub",
      vars: {},
      durable_objects: {
        bindings: [
          { name: "HUB", class_name: "NodeHub" },
          { name: "JOB", class_name: "JobObject", script_name: "copra" },
        ],
      },
      migrations: [{ new_sqlite_classes: ["NodeHub"] }],
    });
    expect(hubTag("code", CONFIG)).toBe(hubTag("code", CONFIG));
    expect(hubTag("other", CONFIG)).not.toBe(hubTag("code", CONFIG));
  });

  it("builds both Workers from wrangler.toml, each with only its own objects", async () => {
    const printed: string[] = [];
    const commands: string[][] = [];
    const run: Wrangler = (args) => {
      commands.push([...args]);
      return wrangler(args);
    };
    const folder = mkdtempSync(join(tmpdir(), "copra-deploy-"));
    await deploy(run, ["--dry-run", "--outdir", join(folder, "dry")], (line) => printed.push(line));
    expect(printed).toEqual([
      ...["Deploying copra-hub: its nodes reconnect", "Deploying copra", "Deploying copra-hub: its nodes reconnect"],
    ]);
    const read = (name: string) => readFileSync(join(folder, "dry", name), "utf8");
    expect(existsSync(join(folder, "dry", "main-worker.js"))).toBe(true);
    expect(read("main-worker.js")).not.toContain("NodeHub = class");
    expect(read("hub-worker.js")).toContain("NodeHub = class");
    expect(read("hub-worker.js")).not.toMatch(/(JobObject|AccountObject) = class/);
    const tags = commands.flatMap((args) => (args.includes("--tag") ? [args[args.indexOf("--tag") + 1]] : []));
    rmSync(folder, { recursive: true });
    expect(tags).toEqual([expect.stringMatching(/^hub-[0-9a-f]{16}$/)]);
  }, 240_000);

  it("takes from wrangler what is deployed, and nothing for a Worker that has only secrets", async () => {
    const answers: Record<string, [number, string]> = {
      "deployments status": [0, '{"versions":[{"version_id":"1","percentage":100}]}'],
      "versions view": [
        ...[0, '{"annotations":{"workers/tag":"hub-1"},"resources":{"script_runtime":{"migration_tag":"v1"}}}'],
      ] as [number, string],
    };
    const run: Wrangler = async (args) => {
      const [code, stdout] = answers[args.slice(0, 2).join(" ")] ?? [1, ""];
      return { code, stdout, stderr: "" };
    };
    expect(await deployedOf(run, "x")).toEqual({ tag: "hub-1", migration: "v1" });
    answers["versions view"] = [0, '{"resources":{"script_runtime":{}}}'];
    expect(await deployedOf(run, "x")).toBeNull();
    answers["deployments status"] = [1, "This Worker does not exist on your account. [code: 10007]"];
    expect(await deployedOf(run, "x")).toBeNull();
    answers["deployments status"] = [1, "You are not authenticated"];
    await expect(deployedOf(run, "x")).rejects.toThrow("not authenticated");
  });
});
