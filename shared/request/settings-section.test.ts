import { expect, it } from "vitest";
import { parseSettings } from "./settings-section.ts";

const DEFAULTS = {
  ultrafast: false,
  qualityReport: false,
  queue: "default",
  priority: 0,
  require: [],
  startAtMs: null,
  startWithinMs: 86_400_000,
  maxRunMs: null,
};

it.each([undefined, null, {}])("has defaults for %j", (section) => {
  expect(parseSettings(section)).toEqual({ ok: true, value: DEFAULTS });
});

it("stores times in milliseconds and labels in order", () => {
  const section = {
    queue: "uhd-4k",
    priority: "-50",
    require: ["region:eu", "gpu", "gpu"],
    start_within_s: 60,
    max_run_s: 7200,
  };
  expect(parseSettings(section)).toEqual({
    ok: true,
    value: {
      ultrafast: false,
      qualityReport: false,
      startAtMs: null,
      queue: "uhd-4k",
      priority: -50,
      require: ["gpu", "region:eu"],
      startWithinMs: 60_000,
      maxRunMs: 7_200_000,
    },
  });
});

it.each([
  ["2026-12-01T02:00:00Z", Date.UTC(2026, 11, 1, 2)],
  ["2026-12-01T02:00:00.5+02:00", Date.UTC(2026, 11, 1, 0) + 500],
  ["2026-12-01", Date.UTC(2026, 11, 1)],
  ["2026-12-31T00:00:00Z", Date.UTC(2026, 11, 31)],
  ["2020-01-01", Date.UTC(2020, 0, 1)],
  ["2026-12-31T00:00:01Z", "`settings.start_at` must be at most 30 days ahead"],
  ["tomorrow", "`settings.start_at` must be a date such as 2026-11-22, or a time such as"],
  ["2026-02-30T25:00:00Z", "`settings.start_at` must be a date"],
  [1_800_000_000, "`settings.start_at` must be a date"],
])("takes the start %j", (start_at, expected) => {
  const parsed = parseSettings({ start_at }, Date.UTC(2026, 11, 1));
  if (typeof expected === "number") expect(parsed).toMatchObject({ ok: true, value: { startAtMs: expected } });
  else
    expect(parsed).toMatchObject({ error: { code: "settings_not_valid", message: expect.stringContaining(expected) } });
});
