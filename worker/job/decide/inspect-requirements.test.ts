import { expect, it } from "vitest";
import type { Need } from "#shared/protocol/needs.ts";
import { claim, NOW } from "../../testing/job-steps.ts";
import { checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import type { JobState } from "../state/job-state.ts";
import { runnableTasks } from "./leases.ts";
import { completeTask } from "./reports.ts";
import { requirementsOf } from "./requirements.ts";

const namesOf = (needs: readonly Need[]): string[] => needs.map(({ anyOf }) => anyOf[0] ?? "");

it("fetches a source where its outputs can be made, as far as they are certain", async () => {
  const outputs = { "mp4:av1": { path: "a.mp4" }, "webm:vp9:x": { path: "b.webm", if: "{{ input.width }} > 4000" } };
  const jobOf = async (settings: object): Promise<JobState> => checkedJob(await newSpec({ outputs, settings }));
  const needsOf = (state: JobState, slotClass: "inspect" | "encode"): string[] =>
    runnableTasks(state, slotClass).flatMap((task) => namesOf(requirementsOf(state, task).needs));
  expect(needsOf(await jobOf({}), "inspect")).toEqual(["aac", "libsvtav1"]);
  // Chunks read the source from anywhere.
  expect(needsOf(await jobOf({ ultrafast: true }), "inspect")).toEqual([]);
  const inspecting = claim(await jobOf({}), "t1", NOW, "node-a", "inspect").state;
  const silent = { ...PROBE, streams: PROBE.streams.slice(0, 1) };
  const inspected = completeTask(inspecting, "inspect", { kind: "inspect", probe: silent }, NOW);
  expect(needsOf(inspected, "encode")).toEqual(["libsvtav1"]);
});
