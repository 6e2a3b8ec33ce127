import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { emptiedFolder } from "../../test/fixtures.ts";

const folder = emptiedFolder();

const MODULE = new URL("./folder-lock.ts", import.meta.url).href;
/** Locks the folder, prints the outcome, and runs until it is stopped. */
const HOLDER = `import { lockFolder } from ${JSON.stringify(MODULE)};
try { await lockFolder(process.argv[1]); console.log("locked"); setInterval(() => {}, 1000); process.on("SIGTERM", () => process.exit(0)); }
catch (error) { console.log(error.message); }`;

async function start(
  uid?: number,
): Promise<{ output: string; pid: number; end(signal: NodeJS.Signals): Promise<void> }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", HOLDER, folder], {
    stdio: ["ignore", "pipe", "inherit"],
    ...(uid === undefined ? {} : { uid }),
  });
  const [output] = await once(child.stdout, "data");
  return {
    output: String(output).trim(),
    pid: child.pid ?? 0,
    async end(signal) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    },
  };
}

it("locks a folder for a single process at a time, and for the next process after the first ends", async () => {
  const first = await start();
  expect(first.output).toBe("locked");
  const second = await start();
  expect(second.output).toBe(
    `Another encoder node (process ${first.pid}) uses the work folder ${folder}. Stop it, or choose another folder with --work.`,
  );
  await first.end("SIGTERM");
  expect(readdirSync(folder)).toEqual([]);
  const third = await start();
  expect(third.output).toBe("locked");
  await third.end("SIGKILL");
});

it("locks a folder for only one of many processes that start together, also when one was killed in its turn", async () => {
  const killed = await start();
  await killed.end("SIGKILL");
  copyFileSync(join(folder, "node.lock"), join(folder, "node.lock.turn"));
  const all = await Promise.all(Array.from({ length: 4 }, () => start()));
  expect(all.filter(({ output }) => output === "locked").length).toBe(1);
  await Promise.all(all.filter(({ output }) => output === "locked").map((each) => each.end("SIGTERM")));
  expect(readdirSync(folder)).toEqual([]);
});

it.each([
  ["of a process that was killed", (text: string) => text],
  [
    "of an earlier process with the pid of a living one",
    (text: string) => text.replace(/"pid":\d+/, `"pid":${process.pid}`),
  ],
  ["that a power failure truncated", (text: string) => text.slice(0, 8)],
])("takes over a lock %s", async (_, changed) => {
  const first = await start();
  await first.end("SIGKILL");
  const lock = join(folder, "node.lock");
  writeFileSync(lock, changed(readFileSync(lock, "utf8")));
  const second = await start();
  expect(second.output).toBe("locked");
  await second.end("SIGTERM");
});

const NOBODY = 65_534;
it.skipIf(process.getuid?.() !== 0)("explains a stale lock that it may not remove", async () => {
  // As in /tmp, only the owner of a file may move it.
  chmodSync(folder, 0o1777);
  const lock = join(folder, "node.lock");
  writeFileSync(lock, "{}");
  expect((await start(NOBODY)).output).toBe(
    `${lock} is the lock of an encoder node that has ended, and cannot be removed (EPERM). Delete the file, or choose another folder with --work.`,
  );
  expect(readdirSync(folder)).toEqual(["node.lock"]);
});
