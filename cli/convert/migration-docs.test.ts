import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convertText } from "#shared/convert/convert.ts";
import { MEDIACONVERT_FIELDS } from "#shared/convert/mediaconvert/fields.ts";
import { fieldTable } from "#shared/convert/testing/field-table.ts";
import { ZENCODER_FIELDS } from "#shared/convert/zencoder/fields.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";

const PAGES = [
  ["zencoder", ZENCODER_FIELDS],
  ["mediaconvert", MEDIACONVERT_FIELDS],
] as const;

describe.each(PAGES)("docs/migrating/%s.md", (service, fields) => {
  const text = readFileSync(join(import.meta.dirname, `../../docs/migrating/${service}.md`), "utf8");

  it("contains the table of fields", () => expect(text).toContain(`\n${fieldTable(fields)}\n`));

  it("contains an example that converts to the shown request", () => {
    const [, example = "", promise = ""] = /```json\n(.*?)```\n(.*?)\n## /s.exec(text) ?? [];
    const result = convertText(example);
    if (!result.ok) throw new Error(result.error);
    expect([result.service, result.converted.notes.filter(({ level }) => level === "lost")]).toEqual([service, []]);
    const request = JSON.parse(JSON.stringify(result.converted.request).replaceAll('":""', '":"filled"'));
    const parsed = parseJobRequest(request, "none");
    expect(parsed.ok ? "" : parsed.error.message).toBe("");
    const formats = [...promise.matchAll(/`((?:mp4|jpg):[^`]*)`/g)].map(([, format]) => format);
    expect(formats.length).toBeGreaterThan(0);
    for (const format of formats) expect(JSON.stringify(request.outputs)).toContain(`"${format}"`);
  });
});
