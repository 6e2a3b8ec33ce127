import { describe, expect, it } from "vitest";
import { filterOf, isFiltered, paramsOf, timeOf, toggled, viewOf } from "./filter.ts";

const view = (query: string) => viewOf(new URLSearchParams(query));
const none = { q: "", statuses: [], from: "", to: "", tags: {}, sort: "", columns: "", cursor: "" };

describe("the filter in the URL", () => {
  it.each([
    ["", none],
    ["q=my+clip&status=failed", { ...none, q: "my clip", statuses: ["job.failed"] }],
    ["status=aborted,failed,strange", { ...none, statuses: ["job.failed", "job.aborted"] }],
    ["from=2026-11-20&to=2026-13-01&cursor=1-a", { ...none, from: "2026-11-20", cursor: "1-a" }],
    ["from=yesterday", none],
    ["sort=took&columns=took,speed", { ...none, sort: "took", columns: "took,speed" }],
    ["sort=created", none],
    ["tag.a=1&tag.b.c=x+y&tag.a=2", { ...none, tags: { a: "2", "b.c": "x y" } }],
    ["tag.a=1&tag.b=2&tag.c=3&tag.d=4", { ...none, tags: { a: "1", b: "2", c: "3" } }],
    ["tag.A=1&tag.=2&tag.a=&tag.__proto__=3", none],
  ])("reads a view from the URL and writes it back: %s", (query, expected) => {
    expect(view(query)).toEqual(expected);
    expect(viewOf(new URLSearchParams(paramsOf(view(query))))).toEqual(expected);
  });

  it.each([
    ["1d", 0],
    ["7d", 6],
  ])("requests the last days, today included: %s", (from, back) => {
    const today = new Date();
    const start = new Date(today.getFullYear(), today.getMonth(), today.getDate() - back);
    expect(filterOf(view(`from=${from}`))).toEqual({ created_after: start.toISOString() });
  });

  it.each([
    ["", ""],
    ["from=7d", "7d"],
    ["from=9d", null],
    ["from=7d&to=2026-11-20", null],
    ["from=2026-11-20", null],
    ["from=0d", ""],
    ["to=7d", ""],
  ])("the time of %j has the name %j", (query, name) => expect(timeOf(view(query))).toBe(name));

  it("requests whole days of the browser's time zone, the last day included", () => {
    const { created_after, created_before } = filterOf(view("from=2026-11-20&to=2026-11-20"));
    expect(new Date(created_after ?? "").getTime()).toBe(new Date(2026, 10, 20).getTime());
    expect(new Date(created_before ?? "").getTime()).toBe(new Date(2026, 10, 21).getTime());
  });

  it("requests jobs with all tags of the filter", () => {
    expect(filterOf(view("tag.a=1&tag.b=2"))).toEqual({ tags: { a: "1", b: "2" } });
    expect(isFiltered(view("tag.a=1"))).toBe(true);
  });

  it("requests no filter for empty fields", () => {
    expect(filterOf(view("q=+&cursor=1-a"))).toEqual({});
    expect([isFiltered(view("q=+&cursor=1-a")), isFiltered(view("status=failed"))]).toEqual([false, true]);
  });

  it("replaces the choice of all statuses by no statuses", () => {
    expect(toggled([], "job.failed")).toEqual(["job.failed"]);
    expect(toggled(["job.failed"], "job.failed")).toEqual([]);
    expect(toggled(["job.starting", "job.completed", "job.failed"], "job.aborted")).toEqual([]);
  });
});
