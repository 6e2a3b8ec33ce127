// npm run deploy:verify against the local system, with the emulated edge.
import { expect, it } from "vitest";
import { verify } from "../local/deploy/verify/checks.ts";
import { sharedStack } from "./stack.ts";

it("accepts a service behind the edge, and reports each unexpected answer", async () => {
  const { api, apiKey, nodeToken } = sharedStack();
  const rows = await verify({
    url: api.replace(/\/v2$/, ""),
    key: apiKey,
    nodeToken,
    holdMs: 1000,
    // Unexpected on purpose: nothing requests its certificate.
    expired: "https://expired.invalid",
    account: undefined,
  });
  expect(rows.map(({ mark, name, seen }) => `${mark}: ${name}: ${seen}`)).toEqual([
    "ok: ready: ready",
    expect.stringMatching(/^ok: storage, unknown host: .* https:\/\/copra-verify\.invalid does not exist in DNS/),
    expect.stringMatching(/^ok: storage, IP address: .*an IP address/),
    expect.stringMatching(/^failed: storage, expired certificate: .* https:\/\/expired\.invalid does not exist in DNS/),
    "ok: HEAD of an mp4: HTTP 200, 65536 bytes",
    "ok: docs: 100 × 200",
    "ok: events: open for 1 s, 0 reconnects",
    "ok: node: welcome, open for 1 s",
    expect.stringMatching(/^skipped: objects: needs CLOUDFLARE_ACCOUNT_ID/),
  ]);
});
