// Errors that prevent a node from starting, and their messages.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { fileFolder } from "../test/fixtures.ts";
import { USAGE } from "./config.ts";
import { lockFolder } from "./workspace/folder-lock.ts";

const folder = fileFolder();
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  writeFileSync(at("file"), "");
  mkdirSync(at("held"));
  await lockFolder(at("held"));
  const listing = "case \"$*\" in *-version*) echo 'ffmpeg version 7.1 made here';; esac";
  writeFileSync(at("bare-ffmpeg"), `#!/bin/sh\n${listing}\n`);
  chmodSync(at("bare-ffmpeg"), 0o755);
});

const BEST_EFFORT = { COPRA_NODE_ISOLATION: "best-effort" };

async function start(argv: readonly string[], env: Record<string, string>): Promise<[number, string, string]> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./main.ts", import.meta.url)), ...argv], {
    env: { ...process.env, COPRA_URL: "http://127.0.0.1:9", COPRA_NODE_TOKEN: "n-none", ...BEST_EFFORT, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return [code, out, err];
}

type Case = { argv?: string[]; env?: Record<string, string>; message: string };
it.each<[string, Case]>([
  ["an unknown option", { argv: ["--wrok", "a"], message: `Unknown option '--wrok'\n\n${USAGE}` }],
  [
    "an ffmpeg without encoders",
    {
      env: { FFMPEG_PATH: at("bare-ffmpeg") },
      message: `The ffmpeg at ${at("bare-ffmpeg")} cannot encode with libx264: not built in. Install an ffmpeg with libx264 and aac, or set FFMPEG_PATH to such a build.`,
    },
  ],
  [
    "a folder that another node uses",
    {
      argv: ["--work", at("held")],
      message: `Another encoder node (process ${process.pid}) uses the work folder ${at("held")}. Stop it, or choose another folder with --work.`,
    },
  ],
  [
    "a file in place of a folder",
    {
      argv: ["--work", at("file")],
      message: `The work folder ${at("file")} cannot be used (EEXIST); choose another folder with --work.`,
    },
  ],
])("a node exits with a message for %s", async (_, { argv = ["--work", at("work")], env = {}, message }) => {
  const [code, out, err] = await start(argv, env);
  expect([code, err]).toEqual([1, `${message}\n`]);
  expect(out).not.toMatch(/process crashed/);
});

it("a node prints its usage", async () => {
  expect(await start(["--help"], {})).toEqual([0, `${USAGE}\n`, ""]);
});
