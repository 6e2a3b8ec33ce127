import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "copra-lock-"));
});
afterEach(() => rm(folder, { recursive: true }));

const MODULE = new URL("./folder-lock.ts", import.meta.url).href;
/** Takes the folder, says so, and stays until it is ended. */
const HOLDER = `import { lockFolder } from ${JSON.stringify(MODULE)};
try { await lockFolder(process.argv[1]); console.log("taken"); setInterval(() => {}, 1000); process.on("SIGTERM", () => process.exit(0)); }
catch (error) { console.log(error.message); }`;

async function begin(uid?: number): Promise<{ said: string; pid: number; end(signal: NodeJS.Signals): Promise<void> }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", HOLDER, folder], {
    stdio: ["ignore", "pipe", "inherit"],
    ...(uid === undefined ? {} : { uid }),
  });
  const [said] = await once(child.stdout, "data");
  return {
    said: String(said).trim(),
    pid: child.pid ?? 0,
    async end(signal) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    },
  };
}

it("lets one process at a time have a folder, and the next one after its end", async () => {
  const first = await begin();
  expect(first.said).toBe("taken");
  const second = await begin();
  expect(second.said).toBe(
    `Another encoder node (process ${first.pid}) works in ${folder}. Stop it, or give this one a folder of its own by --work.`,
  );
  await first.end("SIGTERM");
  expect(readdirSync(folder)).toEqual([]);
  const third = await begin();
  expect(third.said).toBe("taken");
  await third.end("SIGKILL");
});

it("gives a folder to one of many that start at once", async () => {
  const killed = await begin();
  await killed.end("SIGKILL");
  const all = await Promise.all(Array.from({ length: 4 }, () => begin()));
  expect(all.filter(({ said }) => said === "taken").length).toBe(1);
  await Promise.all(all.filter(({ said }) => said === "taken").map((each) => each.end("SIGTERM")));
});

it.each([
  ["of a process that was killed", (text: string) => text],
  [
    "of an earlier process with the pid of a living one",
    (text: string) => text.replace(/"pid":\d+/, `"pid":${process.pid}`),
  ],
  ["that a power cut has cut short", (text: string) => text.slice(0, 8)],
])("takes over a lock %s", async (_, changed) => {
  const first = await begin();
  await first.end("SIGKILL");
  const lock = join(folder, "node.lock");
  writeFileSync(lock, changed(readFileSync(lock, "utf8")));
  const second = await begin();
  expect(second.said).toBe("taken");
  await second.end("SIGTERM");
});

const NOBODY = 65_534;
it.skipIf(process.getuid?.() !== 0)("says what to do about a stale lock that the system keeps from it", async () => {
  // As in /tmp, only who owns a file may move it.
  chmodSync(folder, 0o1777);
  const lock = join(folder, "node.lock");
  writeFileSync(lock, "{}");
  expect((await begin(NOBODY)).said).toBe(
    `${lock} is left of an encoder node that has ended, and cannot be removed (EPERM). Delete it, or give this one a folder of its own by --work.`,
  );
  expect(readdirSync(folder)).toEqual(["node.lock"]);
});
