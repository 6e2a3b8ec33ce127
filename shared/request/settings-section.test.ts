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

const POOL_RULE = "must have 1 to 32 characters: small letters, digits and - after the first";
const LABEL_RULE =
  "must be a label, such as gpu or region:eu: small letters, digits and . _ - with at most one colon, 64 characters";
const PRIORITY_RULE = "must be a whole number from -50 to 50";

it.each<[section: object, message: string]>([
  [{ queue: "" }, `\`settings.queue\` ${POOL_RULE}`],
  [{ queue: "Uhd" }, `\`settings.queue\` ${POOL_RULE}`],
  [{ queue: "a:b" }, `\`settings.queue\` ${POOL_RULE}`],
  [{ queue: 4 }, "`settings.queue` must be the name of a pool"],
  [{ priority: 51 }, `\`settings.priority\` ${PRIORITY_RULE}`],
  [{ priority: -51 }, `\`settings.priority\` ${PRIORITY_RULE}`],
  [{ priority: 0.5 }, `\`settings.priority\` ${PRIORITY_RULE}`],
  [{ require: "gpu" }, "`settings.require` must be a list of labels, such as gpu or region:eu"],
  [{ require: ["gpu", "GPU"] }, `\`settings.require.1\` ${LABEL_RULE}`],
  [{ require: ["a:b:c"] }, `\`settings.require.0\` ${LABEL_RULE}`],
  [{ require: Array.from({ length: 17 }, (_, at) => `l${at}`) }, "`settings.require` must have at most 16 labels"],
  [{ start_within_s: 0 }, "`settings.start_within_s` must be at least 1 second"],
  [{ start_within_s: 1.5 }, "`settings.start_within_s` must be a whole number of seconds"],
  [{ max_run_s: 2_592_001 }, "`settings.max_run_s` must be at most 2592000 seconds (30 days)"],
])("rejects %j", (section, message) => {
  expect(parseSettings(section)).toEqual({ ok: false, error: { code: "settings_not_valid", message } });
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
