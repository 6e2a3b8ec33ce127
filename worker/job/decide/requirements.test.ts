import { expect, it } from "vitest";
import type { Need } from "#shared/protocol/needs.ts";
import { claim, NOW } from "../../testing/job-steps.ts";
import { checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import { runnableTasks } from "./leases.ts";
import { completeTask } from "./reports.ts";
import { placementOf, requirementsOf } from "./requirements.ts";

const namesOf = (needs: readonly Need[]): string[] => needs.map(({ anyOf }) => anyOf[0] ?? "");

it("a source is fetched where its outputs can be made, as far as they are certain, and encoded by what it needs", async () => {
  const outputs = {
    "mp4:av1": { path: "a.mp4" },
    "webm:vp9:x": { path: "b.webm", if: "{{ width }} > 4000" },
  };
  const inspecting = claim(checkedJob(await newSpec({ outputs })), "t1", NOW, "node-a", "inspect").state;
  const needsOf = (state: typeof inspecting, slotClass: "inspect" | "encode"): string[] =>
    runnableTasks(state, slotClass).flatMap((task) =>
      namesOf(requirementsOf(state, task, placementOf(state, slotClass, NOW)).needs),
    );
  expect(needsOf(checkedJob(await newSpec({ outputs })), "inspect")).toEqual(["aac", "libsvtav1"]);
  expect(needsOf(checkedJob(await newSpec({ outputs, settings: { ultrafast: true } })), "inspect")).toEqual([]);
  const silent = { ...PROBE, streams: PROBE.streams.slice(0, 1) };
  expect(needsOf(completeTask(inspecting, "inspect", { kind: "inspect", probe: silent }, NOW), "encode")).toEqual([
    "libsvtav1",
  ]);
});
