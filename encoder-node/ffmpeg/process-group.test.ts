import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { type ProcessGroup, startGroup } from "./process-group.ts";

/** The command lines of all processes that contain this text. */
async function alive(marker: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "stat,args"]);
  return stdout.split("\n").filter((line) => line.includes(marker) && !line.startsWith("Z"));
}

const shell = (script: string): ProcessGroup =>
  startGroup({ program: "/bin/sh", argv: ["-c", script], cwd: "/", env: { PATH: process.env.PATH } });

// The kernel ends the children in a sandbox, but not every system has a sandbox.
it.each<[string, (marker: string) => ProcessGroup]>([
  ["that a process left when it ended", (marker) => shell(`sleep ${marker} & exit 0`)],
  [
    "of a group that is killed",
    (marker) => {
      const group = shell(`sleep ${marker} & echo started; wait`);
      group.stdout.once("data", () => group.kill());
      return group;
    },
  ],
])("ends the children %s", async (name, start) => {
  const marker = `${name.length}.${process.pid}`;
  await start(marker).ended;
  await expect.poll(() => alive(marker)).toEqual([]);
});
