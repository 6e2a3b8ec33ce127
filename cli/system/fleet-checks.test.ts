import { expect, it } from "vitest";
import type { NodeDetails } from "../../client/index.ts";
import { checksOfFleet } from "./fleet-checks.ts";

const slots = { inspect: { free: 1, running: 0 }, encode: { free: 1, running: 0 } };
const NODE: Omit<NodeDetails, "running" | "capabilities"> = {
  id: "attic",
  state: "ready",
  not_ready: [],
  pool: "default",
  labels: [],
  region: null,
  spot: false,
  host: null,
  version: "1.0.0",
  protocol: 3,
  ffmpeg: "7.0.2",
  cpus: 8,
  hardware: null,
  slots,
  leases: 0,
  score: 0,
  disk: { free_bytes: 1e12, total_bytes: 2e12 },
  connected_at: null,
  last_seen_at: null,
  lost_leases: [],
  hub: "default",
};
type Changes = Partial<typeof NODE>;

const demand = (waiting: number, oldest: number) => {
  const one = { wanted: waiting, running: 0, waiting, free: 0, oldest_wait_seconds: oldest, mean_task_seconds: 1 };
  return { encode: one, inspect: one };
};

it.each<[string, Changes[], Record<string, ReturnType<typeof demand>>, string[]]>([
  ["nothing to do", [{}, { id: "cellar" }], { default: demand(0, 0) }, ["ok fleet"]],
  [
    "a node that does not reach the service",
    [{ state: "not_ready", not_ready: ["Cannot reach http://10.0.0.5:9000 (connection refused). Check it"] }],
    {},
    ["failed not ready: attic: Cannot reach http://10.0.0.5:9000 (connection refused). Check it"],
  ],
  ["a node in quarantine", [{ state: "quarantined" }], {}, ["failed quarantine: attic"]],
  [
    "a full disk",
    [{ disk: { free_bytes: 1e9, total_bytes: 2e12 } }],
    {},
    [expect.stringMatching(/^missing disk: attic has .* free$/)],
  ],
  ["other versions", [{ version: "0.9.0" }], {}, ["missing versions: attic: 0.9.0 instead of 1.0.0"]],
  ["two ffmpeg in one pool", [{}, { ffmpeg: "n5.1" }], {}, ["missing ffmpeg: pool default has ffmpeg 5 and 7"]],
  ["two ffmpeg in two pools", [{}, { ffmpeg: "5.1", pool: "old" }], {}, ["ok fleet"]],
  [
    "work without a node",
    [{ state: "cordoned" }],
    { gpu: demand(2, 5) },
    [expect.stringMatching(/^failed work: 2 tasks wait in pool gpu/)],
  ],
  [
    "work that waits long",
    [{}],
    { default: demand(1, 900) },
    [expect.stringMatching(/^missing work: 1 task waits in pool default/)],
  ],
  ["work that waits for seconds", [{}], { default: demand(9, 9) }, ["ok fleet"]],
])("reports %s", (_, nodes, pools, expected) => {
  const checks = checksOfFleet(
    nodes.map((changes) => ({ ...NODE, ...changes })),
    pools,
    "1.0.0",
  );
  expect(
    checks.map(({ name, result, detail }) => (result === "ok" ? `ok ${name}` : `${result} ${name}: ${detail}`)),
  ).toEqual(expected);
});
