import { execFile } from "node:child_process";
import { chown } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import type { Inspection } from "../../testing/processes/inside-sandbox.ts";
import { parseHardLimits } from "../limits.ts";
import { type Isolation, isolationLevel, searchIsolation } from "./isolation.ts";

const NONE: Isolation = {
  sandbox: null,
  reason: null,
  hardLimits: parseHardLimits(""),
  unshareNetwork: [],
  dropPrivileges: [],
  hasProgram: false,
};
const SANDBOX = {
  privilege: "root",
  rootFolder: "/r",
  countsProcesses: true,
  hasProc: true,
  mounts: [],
  filter: null,
} as const;
const ALL = ["files", "processes", "privileges", "network", "limits"];

it.each<[string, Partial<Isolation>, boolean, object]>([
  ["nothing", {}, true, { level: "none", missing: ALL }],
  ["the program", { hasProgram: true }, true, { level: "partial", missing: ALL.slice(0, 4) }],
  ["a sandbox", { sandbox: SANDBOX, hasProgram: true }, false, { level: "full", missing: [] }],
  ["no loopback", { sandbox: SANDBOX, hasProgram: true }, true, { level: "partial", missing: ["network"] }],
])("reports what is missing where there is %s", (_what, isolation, lacksLoopback, level) => {
  expect(isolationLevel({ ...NONE, ...isolation }, lacksLoopback)).toEqual(level);
});

// Earlier test files in this process may have replaced the result of findIsolation.
const { sandbox, reason } = await searchIsolation(undefined);
const isRoot = process.getuid?.() === 0;
/** True if the system allows namespaces, by another program. */
const hasNamespaces = await promisify(execFile)("unshare", [
  "--mount",
  "--pid",
  "--net",
  ...(isRoot ? [] : ["-r"]),
  "true",
])
  .then(() => true)
  .catch(() => false);
it("finds a sandbox, with a filter, where the system allows namespaces", () => {
  expect({ hasFilter: typeof sandbox?.filter === "string", reason }).toEqual(
    hasNamespaces ? { hasFilter: true, reason: null } : { hasFilter: false, reason: expect.any(String) },
  );
});

const NOBODY = 65_534;
const PROGRAM = join(import.meta.dirname, "../../testing/processes/inside-sandbox.ts");

/** Inspects the sandbox from a separate process whose environment contains secrets, as this user or another. */
async function inspect(home: string, uid: number | null, kind: string): Promise<Inspection> {
  const as = uid === null ? [] : ["setpriv", "--reuid", `${uid}`, "--regid", `${uid}`, "--clear-groups", "--"];
  const [program = "", ...argv] = [...as, process.execPath, PROGRAM, home, kind];
  const env = { ...process.env, COPRA_NODE_TOKEN: "n-secret", DATABASE_URL: "secret", PGPASSFILE: "secret" };
  return JSON.parse((await promisify(execFile)(program, argv, { env })).stdout);
}

const USERS: [string, number | null][] = [
  ["this user", null],
  ...(isRoot ? [["nobody", NOBODY] as [string, number]] : []),
];

describe.skipIf(!sandbox).each(USERS)("a program in place of ffmpeg, on a node that runs as %s", (_who, uid) => {
  const home = fileFolder();
  beforeAll(async () => {
    if (uid !== null) await chown(home, uid, uid);
  });

  it.each(["none", "loopback"])("reaches nothing but its own work, with network %s", async (kind) => {
    const { seen, folder, source, proxyPort } = await inspect(home, uid, kind);
    expect(seen.uid).not.toBe(0);
    expect(seen.status).toMatchObject({
      CapPrm: "0000000000000000",
      CapEff: "0000000000000000",
      CapBnd: "0000000000000000",
      CapAmb: "0000000000000000",
      NoNewPrivs: "1",
      Seccomp: sandbox?.filter ? "2" : "0",
    });
    expect(seen.written).toEqual([folder]);
    expect(seen.read).toEqual([source]);
    expect(seen.changed).toEqual([]);
    expect(seen.hasUserNamespace).toBe(false);
    expect(seen.processes).toEqual([]);
    expect(seen.interfaces).toEqual(["lo"]);
    expect(seen.reached).toEqual(kind === "loopback" ? [proxyPort] : []);
    expect(seen.env.filter((name) => /COPRA|DATABASE|PG/.test(name))).toEqual([]);
  });
});
