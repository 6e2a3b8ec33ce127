import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, it } from "vitest";
import { emptiedFolder } from "../../test/fixtures.ts";
import { pack } from "./archive.ts";
import { snapshotBeforeUpgrade } from "./before-upgrade.ts";
import { copyData, dataFiles } from "./data-files.ts";
import { withDraft } from "./draft.ts";
import { restoreData } from "./restore-data.ts";
import { ownMigrations, takeSnapshot } from "./snapshot.ts";

const NOW = new Date("2026-11-23T01:02:03Z");
const D1 = "control-plane/v3/d1/miniflare-D1DatabaseObject/1.sqlite";
const LEASE = "nodes/1/leases/a.encode.1.json";
const OBJECT = "s3/copra/a.mp4._S3rver_object";

const folder = emptiedFolder();
let home: string;
beforeEach(() => {
  home = join(folder, "data");
  for (const file of ["secrets.json", OBJECT, "control-plane/v3/cache/x", "s3.log", "nodes/1/sources/input", LEASE])
    put(file, file);
  migrate(ownMigrations());
});

function put(file: string, text: string): void {
  mkdirSync(join(home, dirname(file)), { recursive: true });
  writeFileSync(join(home, file), text);
}

/** A database as a killed service leaves it: the last writes are only in its log. */
function migrate(names: readonly string[]): void {
  mkdirSync(join(home, dirname(D1)), { recursive: true });
  rmSync(join(home, D1), { force: true });
  const draft = join(folder, "draft.sqlite");
  const database = new DatabaseSync(draft);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT)");
  for (const name of names) database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").run(name);
  for (const end of ["", "-wal"]) copyFileSync(draft + end, join(home, D1 + end));
  database.close();
  rmSync(draft);
}

const restore = (backup: string, to: string, replace = false) => restoreData({ backup, home: to, replace, now: NOW });
const treeOf = (at: string): string[] =>
  readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(at.length + 1))
    .sort();

it("restores databases, media and secrets from an archive, but neither logs nor caches", async () => {
  const { manifest, frozenMs } = takeSnapshot(home, join(home, ".backup"), NOW);
  expect([manifest.migrations, frozenMs]).toEqual([ownMigrations(), 0]);
  const file = join(folder, "copra.tar.gz");
  await pack(join(home, ".backup"), file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const restored = join(folder, "restored");
  expect(await restore(file, restored)).toEqual({ manifest, replaced: null });
  expect(treeOf(restored).filter((name) => !/-(wal|shm)$/.test(name))).toEqual([D1, LEASE, OBJECT, "secrets.json"]);
  expect(readFileSync(join(restored, OBJECT), "utf8")).toBe(OBJECT);
  expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
});

it("copies files again that have changed since the first copy, and deletes missing files", () => {
  const old = new Date("2026-01-01");
  for (const file of ["secrets.json", OBJECT]) utimesSync(join(home, file), old, old);
  put("s3/copra/gone._S3rver_object", "gone");
  const copy = join(folder, "copy");
  const first = copyData(home, copy);
  const unchanged = statSync(join(copy, "secrets.json")).ctimeMs;
  put("s3/copra/new._S3rver_object", "new");
  rmSync(join(home, "s3/copra/gone._S3rver_object"));
  rmSync(join(home, OBJECT));
  put(OBJECT, "replaced");
  writeFileSync(join(home, D1), "changed");
  copyData(home, copy, first);
  expect(treeOf(copy)).toEqual(dataFiles(home).sort());
  expect(readFileSync(join(copy, OBJECT), "utf8")).toBe("replaced");
  expect(readFileSync(join(copy, D1), "utf8")).toBe("changed");
  expect(statSync(join(copy, "secrets.json")).ctimeMs).toBe(unchanged);
});

it("moves earlier data aside if the operator allows it", async () => {
  takeSnapshot(home, join(home, "snapshot"), NOW);
  writeFileSync(join(home, "secrets.json"), "changed");
  await expect(restore(join(home, "snapshot"), home)).rejects.toThrow("--replace moves it aside");
  const { replaced } = await restore(join(home, "snapshot"), home, true);
  expect(readFileSync(join(home, "secrets.json"), "utf8")).toBe("secrets.json");
  expect(readFileSync(join(replaced ?? "", "secrets.json"), "utf8")).toBe("changed");
});

it.each<[string, string, () => void | Promise<void>]>([
  ["is not there", "There is no backup", () => rmSync(join(folder, "b"), { recursive: true })],
  ["has no manifest", "is not a backup", () => rmSync(join(folder, "b", "manifest.json"))],
  ["is of a newer format", "newer version", () => writeFileSync(join(folder, "b", "manifest.json"), '{"format": 2}')],
  [
    "is incomplete",
    "is not a backup, or is damaged",
    async () => {
      await pack(join(folder, "b"), join(folder, "c"));
      rmSync(join(folder, "b"), { recursive: true });
      writeFileSync(join(folder, "b"), readFileSync(join(folder, "c")).subarray(0, 200));
    },
  ],
  [
    "has a damaged database",
    "The backup is damaged",
    () => {
      for (const end of ["-wal", "-shm"]) rmSync(join(folder, "b", D1 + end), { force: true });
      writeFileSync(join(folder, "b", D1), "SQLite format 3\0 and then nothing of it");
    },
  ],
])("changes nothing when the backup %s", async (_, message, spoil) => {
  takeSnapshot(home, join(folder, "b"), NOW);
  await spoil();
  const target = join(folder, "target");
  await expect(restore(join(folder, "b"), target)).rejects.toThrow(message);
  expect(readdirSync(folder).filter((name) => /target/.test(name))).toEqual([]);
});

it("rejects data of a newer version, at a restore and at the start", async () => {
  takeSnapshot(home, join(folder, "b"), NOW);
  const manifest = join(folder, "b", "manifest.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/0000_\w+/, "9999_later"));
  await expect(restore(join(folder, "b"), join(folder, "x"))).rejects.toThrow("9999_later.sql. Update Copra first");
  migrate([...ownMigrations(), "9999_later.sql"]);
  expect(() => snapshotBeforeUpgrade(home, NOW)).toThrow("is of a newer version");
});

it.each([
  ["version", "99.0.0"],
  ["miniflare", "99.20990101.0"],
])("rejects data that was last used with a newer %s", (name, later) => {
  snapshotBeforeUpgrade(home, NOW);
  const file = join(home, "version.json");
  const started = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...started, [name]: later }));
  expect(() => snapshotBeforeUpgrade(home, NOW)).toThrow(`last used with the ${name} ${later}`);
  expect(readdirSync(join(home, "snapshots"))).toHaveLength(1);
  // An older runtime may have used another format of the databases.
  writeFileSync(file, JSON.stringify({ ...started, [name]: "0.0.1" }));
  expect(snapshotBeforeUpgrade(home, new Date("2026-11-23T02:00:00Z"))).toMatch(/20261123T020000-before-/);
});

it("keeps a snapshot from before an upgrade, at most three, and none without need", () => {
  const snapshots = () => readdirSync(join(home, "snapshots"));
  expect(snapshotBeforeUpgrade(home, NOW)).toMatch(/20261123T010203-before-/);
  expect(snapshotBeforeUpgrade(home, NOW)).toBeNull();
  for (let hour = 2; hour <= 5; hour++) {
    rmSync(join(home, "version.json"));
    snapshotBeforeUpgrade(home, new Date(`2026-11-23T0${hour}:00:00Z`));
  }
  expect(snapshots().map((name) => name.slice(9, 11))).toEqual(["03", "04", "05"]);
  // A snapshot shares the bytes of media with the data, and keeps them.
  rmSync(join(home, OBJECT));
  expect(readFileSync(join(home, "snapshots", snapshots()[0] ?? "", OBJECT), "utf8")).toBe(OBJECT);
});

it("takes no snapshot of a new data folder", () => {
  rmSync(home, { recursive: true });
  mkdirSync(home);
  expect(snapshotBeforeUpgrade(home, NOW)).toBeNull();
});

it("prepares a backup in a folder that it deletes afterwards, with the folders of killed backups", async () => {
  for (const name of [".backup-killed", ".backup-runs"]) put(`${name}/data/secrets.json`, "secrets");
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(join(home, ".backup-killed"), hoursAgo, hoursAgo);
  const drafts = (): string[] => readdirSync(home).filter((name) => name.startsWith(".backup-"));
  await withDraft(home, async (draft) => {
    expect(existsSync(draft)).toBe(true);
    expect(drafts().sort()).toEqual([draft.slice(home.length + 1), ".backup-runs"].sort());
  });
  expect(drafts()).toEqual([".backup-runs"]);
});
