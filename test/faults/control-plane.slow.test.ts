// The control plane and the S3 server are killed at various times. test/simulation covers lost messages.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { look } from "../look.ts";
import { makeLongClip } from "../media.ts";
import { type ProxiedRequest, trap } from "./fault-proxy.ts";
import { type FaultWorld, isLong, isServed, startFaultWorld } from "./fault-world.ts";
import { attemptsOf, expectKept, forgetTrials } from "./promises.ts";

let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  world = await startFaultWorld({ nodes: 2 });
  clip = await makeLongClip(world.folder, 60, "160x90");
});
afterEach(() => {
  world?.calm();
  for (const node of world?.nodes ?? []) node.start();
});
afterAll(() => world?.close());

const begin = async (folder: string): Promise<string> => {
  const outputs = { "mp4:160x90": { path: `/${folder}/video.mp4` } };
  return (await world.submit({ input: { url: world.urlOf(clip) }, outputs })).id;
};
const expectVideo = (id: string, folder: string) =>
  expectKept(world, id, { status: "job.completed", frames: { 0: 1800 }, folder, objects: ["video.mp4"] });

const ends =
  (words: string) =>
  ({ path }: ProxiedRequest): boolean =>
    path.endsWith(words);
const isComplete = ends(".encode.1/complete");
const ONE_GO = ["inspect.1", "encode.1"];

/** Kills a process of the stack and waits until its successor runs. */
async function killAndWait(pidNow: () => number, isBack: () => Promise<boolean>): Promise<void> {
  const pid = pidNow();
  process.kill(pid, "SIGKILL");
  await expect.poll(pidNow, { timeout: 30_000 }).not.toBe(pid);
  await expect.poll(() => isBack().catch(() => false), { timeout: 60_000 }).toBe(true);
}
const killControlPlane = (): Promise<void> =>
  killAndWait(
    () => world.stack.pids().controlPlane,
    async () => (await world.stack.request("GET", "/health")).status === 200,
  );

describe("the control plane is killed", () => {
  /** Calls `kill` when the stage is reached; resolves when the kill is done. */
  type Stage = { when: string; killed(kill: () => Promise<void>, id: Promise<string>): Promise<void>; isShort?: true };
  /** Holds a request at the proxy until the control plane has been killed. */
  const at = async (
    proxy: "source" | "api" | "webhook",
    fits: (request: ProxiedRequest) => boolean,
    kill: () => Promise<void>,
  ) => {
    const dead = Promise.withResolvers<void>();
    await trap(world.proxies[proxy], fits, { kind: "hold", until: dead.promise });
    const back = kill();
    dead.resolve();
    await back;
  };

  const STAGES: readonly Stage[] = [
    { when: "once it has taken the job", killed: async (kill, id) => void (await id.then(kill)), isShort: true },
    { when: "when a node has claimed the first task", killed: (kill) => at("source", () => true, kill) },
    { when: "before it learns of the probe", killed: (kill) => at("api", ends(".inspect.1/complete"), kill) },
    { when: "during the encode", killed: (kill, id) => world.encoding(id).then(kill) },
    { when: "when it is asked for uploads", killed: (kill) => at("api", ends(".encode.1/uploads"), kill) },
    { when: "before it learns of the result", killed: (kill) => at("api", isComplete, kill) },
    {
      when: "when it has the result, and its answer is lost",
      async killed(kill) {
        await trap(world.proxies.api, isComplete, { kind: "lose answer" });
        await at("api", isComplete, kill);
      },
    },
    {
      when: "before it has sent the last webhook",
      async killed(kill) {
        await trap(world.proxies.api, isComplete);
        await at("webhook", () => true, kill);
      },
    },
  ];

  it.each(STAGES.filter(({ isShort }) => isLong || isShort))("$when", async ({ when, killed }) => {
    const folder = when.replaceAll(/\W+/g, "-");
    const id = Promise.withResolvers<string>();
    const done = killed(killControlPlane, id.promise);
    id.resolve(await begin(folder));
    await done;
    await world.stack.waitForJob(await id.promise);
    await forgetTrials(world);
    await expectVideo(await id.promise, folder);
    expect(attemptsOf(world, await id.promise)).toEqual(ONE_GO);
  });

  it.runIf(isLong)("while it is idle, and its nodes reconnect", async () => {
    const welcomes = (): number[] =>
      world.nodes.map((node) => node.lines().filter(({ message }) => message === "control plane connected").length);
    const before = welcomes();
    await killControlPlane();
    await expect.poll(welcomes, { timeout: 60_000 }).toEqual(before.map((count) => count + 1));
    await expectVideo(await begin("idle"), "idle");
  });
});

it("completes an upload although the storage is killed during it", async () => {
  const dead = Promise.withResolvers<void>();
  const puts = trap(world.proxies.s3, ({ method }) => method === "PUT", {
    kind: "hold",
    until: dead.promise,
    afterBytes: 10_000,
  });
  const id = await begin("storage");
  await puts;
  await killAndWait(
    () => world.stack.pids().s3,
    async () => (await fetch(world.stack.s3.endpoint)).status < 500,
  );
  dead.resolve();
  await expectVideo(id, "storage");
  expect(attemptsOf(world, id)).toEqual(ONE_GO);
});

// Runs last, because it may leave uploads behind.
const crash = (): Promise<void> => world.stack.crash?.() ?? Promise.reject(new Error("The stack is the test's own"));

describe.runIf(isServed)("the whole service is killed, with the process that restarts its parts", () => {
  const WHEN: [string, (id: string) => Promise<unknown>][] = [
    ["while the source is fetched", (id) => world.holderOf(id)],
    ["during the encode", (id) => world.encoding(id)],
  ];
  it.each(WHEN)("%s", async (when, reached) => {
    const folder = `crash-${when.replaceAll(" ", "-")}`;
    const id = await begin(folder);
    await reached(id);
    await crash();
    // Not `kept`: the storage may keep an upload that was started and not recorded yet (seen 2026-11-23).
    const job = await world.stack.waitForJob(id);
    expect(job.status).toBe("job.completed");
    expect((await look(job.outputs[0]?.url)).frames).toBe(1800);
  });
});
