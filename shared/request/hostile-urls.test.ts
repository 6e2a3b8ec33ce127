import { describe, expect, it } from "vitest";
import { ALLOW_SETTINGS, HOSTILE_ADDRESSES, isRefused } from "../testing/hostile-addresses.ts";
import { JOB_WITH_URLS, URL_FIELDS } from "../testing/url-fields.ts";
import { parseJobRequest } from "./job-request.ts";

/** Adds a user to HTTP URLs that have no user. */
const withUser = (url: string): string => url.replace(/^(https?:\/\/)(?!.*@)/, "$1user:hunter2@");

describe.each(URL_FIELDS)("a URL in %s", (field, code, changes) => {
  const errorOf = (url: string, allow: (typeof ALLOW_SETTINGS)[number]) => {
    const parsed = parseJobRequest({ ...JOB_WITH_URLS, ...changes(url) }, allow);
    return parsed.ok ? null : parsed.error;
  };

  it.each(ALLOW_SETTINGS)("rejects a URL under %s if it may lead to a private network", (allow) => {
    expect(errorOf("https://public.example.com", allow)).toBeNull();
    for (const [url] of HOSTILE_ADDRESSES.filter((row) => isRefused(row, allow))) {
      const error = errorOf(withUser(url), allow);
      expect([url, error?.code]).toEqual([url, code]);
      expect(error?.message.replace(`\`${field}\` `, "")).toMatch(/^(?:has|is) /);
      expect(JSON.stringify(error)).not.toContain("hunter2");
    }
  });
});
