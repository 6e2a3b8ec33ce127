import { expect, it, vi } from "vitest";
import { sendWithSession, skewOf, url } from "./service.ts";
import { begin, session } from "./session.ts";

it.each([
  ["Sat, 21 Nov 2026 05:23:27 GMT", "2026-11-21T05:23:28.900Z", 0],
  ["Sat, 21 Nov 2026 05:23:27 GMT", "2026-11-21T05:24:27.000Z", -60_000],
  ["Sat, 21 Nov 2026 05:23:27 GMT", "2026-11-21T05:23:20.000Z", 7000],
  [null, "2026-11-21T05:23:27.000Z", 0],
])("measures the skew of the service's clock by the date %s of a response that arrived at %s", (date, at, skew) =>
  expect(skewOf(date, Date.parse(at))).toBe(skew),
);

it("ends the session that a request was refused with, but not another session that began meanwhile", async () => {
  const sessionOf = (name: string) => ({ account: { id: name, name }, operator: false, expires_at: null });
  const [first, second] = [sessionOf("first"), sessionOf("second")];
  const answer = Promise.withResolvers<Response>();
  vi.stubGlobal("fetch", () => answer.promise);
  begin(first);
  const sent = sendWithSession(`${url}/v2/jobs`);
  begin(second);
  answer.resolve(new Response(null, { status: 401 }));
  expect([(await sent).status, session.value]).toEqual([401, second]);
  await sendWithSession(`${url}/v2/jobs`);
  expect(session.value).toBeNull();
});
