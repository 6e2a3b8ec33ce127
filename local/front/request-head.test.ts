import { expect, it } from "vitest";
import { forwardedHeaders, requestHeadError } from "./request-head.ts";

const head = (...rawHeaders: string[]) => ({ target: "/v2/jobs", rawHeaders });

it.each<[string, Parameters<typeof requestHeadError>[0], string | null]>([
  ["a plain request", head("Host", "a", "Accept", "x", "Accept", "y"), null],
  ["two hosts", head("Host", "a", "host", "b"), "The header `host` must come once"],
  ["two lengths", head("Content-Length", "1", "content-length", "1"), "The header `content-length` must come once"],
  ["two keys", head("Authorization", "a", "Authorization", "b"), "The header `authorization` must come once"],
  [
    "two ends of a body",
    head("Transfer-Encoding", "chunked", "Content-Length", "5"),
    "A request has either Content-Length or Transfer-Encoding",
  ],
  ["a URL as its target", { target: "http://b/v2/admin", rawHeaders: [] }, "The request's target must be a path"],
  ["a star as its target", { target: "*", rawHeaders: [] }, "The request's target must be a path"],
])("checks the request head: %s", (_, request, reason) => {
  expect(requestHeadError(request)).toBe(reason);
});

it("drops headers that only Cloudflare, Miniflare or the front may set, and headers of the connection", () => {
  const sent = head(
    ...["Host", "copra.test", "CF-Connecting-IP", "9.9.9.9", "cf-ipcountry", "XX", "MF-Original-URL", "http://x/"],
    ...["Copra-Front", "guess", "Connection", "close, X-Hop", "X-Hop", "1", "Expect", "100-continue", "TE", "trailers"],
    ...["Transfer-Encoding", "chunked", "X-Kept", "a", "X-Kept", "b"],
  );
  expect(forwardedHeaders(sent, "192.0.2.1", "secret")).toEqual([
    ...["Host", "copra.test", "X-Kept", "a", "X-Kept", "b"],
    ...["cf-connecting-ip", "192.0.2.1", "copra-front", "secret"],
  ]);
});
