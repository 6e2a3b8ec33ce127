// Reports that nodes send by their sockets are lost, doubled, or their answers are: each counts once.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeLongClip } from "../media.ts";
import { type FaultWorld, isLong, startFaultWorld } from "./fault-world.ts";
import { type FrameFault, onceFrame, type ProxiedFrame } from "./frame-relay.ts";
import { expectKept } from "./promises.ts";

let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  world = await startFaultWorld({ reports: "socket" });
  clip = await makeLongClip(world.folder, 10, "160x90");
});
afterEach(() => world?.calm());
afterAll(() => world?.close());

/** The report of the result of an encode. */
const isResult = ({ type, report }: ProxiedFrame): boolean => {
  const { lease, verb } = Object(report);
  return type === "report" && verb === "complete" && String(lease).includes(".encode.");
};

/** Does a fault to the answer to the first result. */
function onItsAnswer(fault: FrameFault) {
  let id: unknown;
  return onceFrame((frame) => {
    if (isResult(frame)) id ??= frame.id;
    return frame.type === "ack" && frame.id === id;
  }, fault);
}

describe("a report by the socket", () => {
  const FAULTS: readonly {
    what: string;
    rule: Parameters<FaultWorld["proxies"]["api"]["useFrames"]>[0];
    isShort?: true;
  }[] = [
    { what: "that is lost", rule: onceFrame(isResult, "lose") },
    { what: "that comes twice", rule: onceFrame(isResult, "twice") },
    { what: "during which the connection breaks", rule: onceFrame(isResult, "break") },
    { what: "whose answer is lost", rule: onItsAnswer("lose") },
    { what: "before whose answer the connection breaks", rule: onItsAnswer("break"), isShort: true },
  ];

  it.each(FAULTS.filter(({ isShort }) => isLong || isShort))("$what counts once", async ({ what, rule }) => {
    const folder = what.replaceAll(/\W+/g, "-");
    const seen: string[] = [];
    world.proxies.api.useFrames((frame) => {
      const fault = rule?.(frame) ?? null;
      if (fault) seen.push(fault);
      return fault;
    });
    const outputs = { "mp4:160x90": { path: `/${folder}/video.mp4` } };
    const { id } = await world.submit({ input: { url: world.urlOf(clip) }, outputs });
    await expectKept(world, id, { status: "job.completed", frames: { 0: 300 }, folder, objects: ["video.mp4"] });
    expect(seen).toHaveLength(1);
    expect(leasesOf(id)).toEqual(["encode.1", "inspect.1"]);
  });
});

/** The leases that the node has worked on. */
function leasesOf(id: string): string[] {
  const lines = world.nodes.flatMap((node) => node.lines());
  const own = lines.filter(({ message, lease }) => message === "Task done" && String(lease).startsWith(`${id}.`));
  return [...new Set(own.map(({ lease }) => String(lease).slice(id.length + 1)))].toSorted();
}
