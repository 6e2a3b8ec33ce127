import { describe, expect, it } from "vitest";
import type { Node } from "../../client/index.ts";
import { backlogSeconds, matches, notesOf, securityNotes, totalLoad, usualVersions } from "./fleet.ts";

const node = (changes: Partial<Node> = {}): Node => ({
  id: "attic",
  state: "ready",
  not_ready: [],
  pool: "default",
  labels: ["gpu", "region:eu"],
  region: "eu",
  spot: false,
  host: "attic.lan",
  version: "0.1.0",
  protocol: 3,
  ffmpeg: "7.1",
  cpus: 8,
  hardware: "nvenc",
  leases: 1,
  disk: { free_bytes: 2e11, total_bytes: 5e11 },
  score: 0,
  connected_at: null,
  last_seen_at: null,
  lost_leases: [],
  hub: "hub:default:0",
  slots: { inspect: { free: 4, running: 0 }, encode: { free: 1, running: 1 } },
  ...changes,
});

describe("notes of a node", () => {
  it.each<[string, Partial<Node>, string[]]>([
    ["nothing unusual", {}, []],
    ["what it cannot reach", { not_ready: ["Cannot reach http://10.0.0.5"] }, ["Cannot reach http://10.0.0.5"]],
    ["failures", { score: 0.4 }, ["40 % of its last jobs failed by its fault"]],
    ["a full disk", { disk: { free_bytes: 3e9, total_bytes: 2e10 } }, ["Little disk: 3 GB free"]],
    ["a large, nearly full disk", { disk: { free_bytes: 4e10, total_bytes: 1e12 } }, ["Little disk: 40 GB free"]],
    [
      "another ffmpeg",
      { ffmpeg: "5.1" },
      ["Other nodes of its pool have ffmpeg 7.1: a video in chunks needs the same version"],
    ],
    ["another ffmpeg in another pool", { ffmpeg: "5.1", pool: "own" }, []],
    ["a spot machine", { spot: true }, ["Its machine may be taken away at any time"]],
  ])("lists the notes of a node: %s", (_, changes, expected) => {
    const changed = node(changes);
    const nodes = [node({ id: "a" }), node({ id: "b" }), changed];
    expect(notesOf(changed, usualVersions(nodes)).map(({ text }) => text)).toEqual(expected);
  });

  it("adds notes from the details of a node", () => {
    const capabilities = { ffmpegVersion: "5.1", encoders: [], cpus: 8 };
    expect(securityNotes({ capabilities })).toEqual([]);
    const isolation = { level: "partial" as const, missing: ["network" as const] };
    expect(securityNotes({ capabilities: { ...capabilities, isolation } })).toEqual([
      { kind: "warn", text: "Its sandbox lacks network" },
    ]);
  });
});

describe("a fleet", () => {
  it.each([
    ["", [], true],
    ["GPU eu", [], true],
    ["nvenc 7.1", ["ready"], true],
    ["cellar", [], false],
    ["", ["offline"], false],
  ] as const)("finds the node for the text %j and the states %j: %s", (q, states, expected) => {
    expect(matches(node(), { q, states })).toBe(expected);
  });

  it("adds up the load of all nodes, and estimates the backlog", () => {
    expect(totalLoad([node(), node()], "encode")).toEqual({ running: 2, total: 4 });
    const demand = { wanted: 8, running: 2, waiting: 6, free: 0, oldest_wait_seconds: 3, mean_task_seconds: 10 };
    expect(backlogSeconds(demand)).toBe(30);
    expect(backlogSeconds({ ...demand, running: 0 })).toBeNull();
    expect(backlogSeconds({ ...demand, waiting: 0 })).toBe(0);
  });
});
