// Work that a node cannot complete: its disk is full, or its ffmpeg is killed.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { makeLongClip } from "../media.ts";
import { trap } from "./fault-proxy.ts";
import { type FaultWorld, startFaultWorld } from "./fault-world.ts";
import { attemptsOf, expectKept } from "./promises.ts";

const DISK = `/tmp/copra-disk-${process.pid}`;
const TOOLS = `/tmp/copra-tools-${process.pid}`;
/** Runs ffmpeg without the sandbox: the ffmpeg of these tests counts in a file. */
const WITHOUT_SANDBOX = new URL("./without-sandbox.ts", import.meta.url).href;
const DISK_BYTES = 2 * 2 ** 30;

const run = (program: string, argv: readonly string[]): string =>
  execFileSync(program, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

const mount = (options: string): void => void run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", DISK]);

/** True if this user may mount a file system. Tries it in a separate mount namespace. */
function mayMount(): boolean {
  try {
    run("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]);
    return true;
  } catch {
    return false;
  }
}

const hasDisk = mayMount();
let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  mkdirSync(DISK, { recursive: true });
  if (hasDisk) mount(`size=${DISK_BYTES}`);
  const { ffmpeg } = await locateFfmpeg(process.env);
  mkdirSync(TOOLS);
  writeFileSync(join(TOOLS, "ffmpeg"), killedOnCommand(ffmpeg.path));
  chmodSync(join(TOOLS, "ffmpeg"), 0o755);
  const settings = { env: { FFMPEG_PATH: join(TOOLS, "ffmpeg") }, imports: [WITHOUT_SANDBOX] };
  world = await startFaultWorld({ nodes: [{ ...settings, workFolder: join(DISK, "node") }, settings] });
  clip = await makeLongClip(world.folder, 60, "160x90");
});
afterEach(async () => {
  world?.calm();
  for (const node of world?.nodes ?? []) node.start();
  await Promise.all(world?.nodes.map((node) => node.connected()));
});
afterAll(async () => {
  await world?.close();
  if (hasDisk) run("umount", ["-l", DISK]);
  for (const folder of [DISK, TOOLS]) rmSync(folder, { recursive: true, force: true });
});

const FRAMES = { 0: 1800 };
const begin = async (folder: string): Promise<string> => {
  const outputs = { "mp4:160x90": { path: `/${folder}/video.mp4` } };
  return (await world.submit({ input: { url: world.urlOf(clip) }, outputs })).id;
};
const expectVideo = (id: string, folder: string) =>
  expectKept(world, id, { status: "job.completed", frames: FRAMES, folder, objects: ["video.mp4"] });

describe.runIf(hasDisk)("a full disk", () => {
  const resize = (bytes: number): void => mount(`remount,size=${bytes}`);

  /** Room for reports, not for a result. */
  const ROOM_BYTES = 128 * 1024;

  afterEach(() => resize(DISK_BYTES));

  /** Holds the last report of an attempt until `release` is called. */
  const held = (attempt: string) => {
    const { promise: until, resolve: release } = Promise.withResolvers<void>();
    const isLast = ({ path }: { path: string }): boolean => new RegExp(`${attempt}/(complete|fail)$`).test(path);
    return { arrived: trap(world.proxies.api, isLast, { until }), release };
  };

  it("during an encode: another node does the work, and the node stays healthy", async () => {
    const [small, other] = world.nodes;
    // Restart the nodes: a running node keeps the sources of its last jobs for a while.
    for (const node of [small, other]) await node?.terminate();
    small?.start();
    await small?.connected();
    // A node with a source keeps its work although its disk is full.
    const inspected = held("inspect.1");
    const id = await begin("disk");
    await inspected.arrived;
    const used = Number(run("df", ["--output=used", "-B1", DISK]).split("\n")[1]);
    resize(used + ROOM_BYTES);
    const encoded = held("encode.1");
    inspected.release();
    await encoded.arrived;
    other?.start();
    await other?.connected();
    encoded.release();
    await expectVideo(id, "disk");
    expect(attemptsOf(world, id)).toEqual(["inspect.1", "encode.1", "encode.2"]);

    resize(DISK_BYTES);
    await other?.terminate();
    const next = await begin("after");
    await expectVideo(next, "after");
  });
});

it("retries an ffmpeg that is killed for its memory on another node", async () => {
  writeFileSync(join(TOOLS, "kills-left"), "k");
  const id = await begin("killed");
  await expectVideo(id, "killed");
  expect(attemptsOf(world, id)).toEqual(["inspect.1", "encode.1", "encode.2"]);
  const workers = ["encode.1", "encode.2"].map((attempt) =>
    world.nodes.findIndex((node) => node.lines().some(({ lease }) => lease === `${id}.${attempt}`)),
  );
  expect(workers.toSorted()).toEqual([0, 1]);
});

/** An ffmpeg that is killed during an encode, once for each letter in the file `kills-left`. */
const killedOnCommand = (ffmpeg: string): string => `#!/bin/sh
case "$*" in *" -stats_period "*" -map "*)
  if [ -s ${TOOLS}/kills-left ]; then
    left=$(cat ${TOOLS}/kills-left)
    printf %s "\${left#k}" > ${TOOLS}/kills-left
    kill -9 $$
  fi
esac
exec ${ffmpeg} "$@"
`;
