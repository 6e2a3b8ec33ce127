import { expect, it } from "vitest";
import { decodeHubFrame, PREVIOUS_PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { HUB_FRAMES_2 } from "../testing/hub-frames-2.ts";

it("every frame that the hub of the previous release sent is understood", () => {
  const decoded = HUB_FRAMES_2.map((text) => decodeHubFrame(text));
  expect(decoded.flatMap((one) => (one.ok ? [] : [one.error]))).toEqual([]);
  expect(decoded.flatMap((one) => (one.ok ? [one.value.type] : []))).toEqual([
    ...["welcome", "assign", "assign", "cancel", "yield", "drain"],
  ]);
  expect(decoded[0]).toMatchObject({ value: { protocol: PREVIOUS_PROTOCOL_VERSION, progressEveryMs: 1000 } });
});
