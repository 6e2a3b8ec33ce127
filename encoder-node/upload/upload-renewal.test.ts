import { describe, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import { CLIP, md5, partsOf, storage, upload, useUploads } from "../testing/jobs/upload-storage.ts";
import { bytesContent } from "./content.ts";

useUploads();

describe("expired signatures", () => {
  /** Accepts requests signed with `good()`, and rejects all others with this status and body. */
  const signedStorage = (good: () => string, status = 403, body = "") =>
    storage((request, response) => {
      if (request.url?.includes(`X-Amz-Signature=${good()}`)) return false;
      request.resume().once("end", () => response.writeHead(status).end(body));
      return true;
    });
  const signedWith = (signature: string, parts: readonly UploadPart[]): UploadPart[] =>
    parts.map((part) => ({ ...part, url: part.url.replace("secret", signature) }));

  it.each([
    [403, "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"],
    [400, "<Error><Code>ExpiredToken</Code></Error>"],
    [403, "<Error><Code>RequestTimeTooSkewed</Code></Error>"],
    [403, "<Error><Code>AuthenticationFailed</Code></Error>"],
    [403, '{"error_code":"upload_not_allowed"}'],
  ])("renews expired signatures once for all parts, and keeps stored parts: HTTP %i %s", async (status, body) => {
    let good = "secret";
    const { origin, received, tries } = await signedStorage(() => good, status, body);
    let renewals = 0;
    const parts = partsOf(origin, 500_000);
    const renew = async () => {
      renewals += 1;
      return { parts: signedWith(good, parts) };
    };
    const expire = (bytes: number): void => {
      if (bytes > 2_500_000) good = "new";
    };
    const { etags } = await upload(parts, { renew, onProgress: expire });
    expect(renewals).toBe(1);
    expect(received.length).toBe(13);
    expect(etags).toEqual(parts.map(({ offset, sizeBytes }) => md5(CLIP.subarray(offset, offset + sizeBytes))));
    expect(Math.max(...tries.values())).toBe(1);
  });

  it("renews signatures again each time that they worked in between", async () => {
    const { origin, received } = await signedStorage(() =>
      received.length < 4 ? "secret" : `new${received.length >> 2}`,
    );
    const parts = partsOf(origin, 500_000, 6_000_000);
    let renewals = 0;
    const renew = async () => ({ parts: signedWith(`new${++renewals}`, parts) });
    await upload(parts, { content: bytesContent(CLIP.subarray(0, 6_000_000)), renew });
    expect([renewals, received.length]).toEqual([2, 12]);
  });

  it("fails when the storage rejects the new signatures too: they are wrong, not expired", async () => {
    const { origin, tries } = await signedStorage(() => "never");
    const parts = partsOf(origin, CLIP.length);
    const renew = async () => ({ parts: signedWith("new", parts) });
    await expect(upload(parts, { renew })).rejects.toMatchObject({ code: "storage_denied" });
    expect([...tries.values()]).toEqual([1, 1]);
  });

  it("fails when the renewal returns the signatures of another upload, or rejects", async () => {
    const { origin } = await signedStorage(() => "never");
    const parts = partsOf(origin, CLIP.length);
    await expect(upload(parts, { renew: async () => ({ parts: partsOf(origin, 500_000) }) })).rejects.toMatchObject({
      code: "node_failed",
    });
    const refused = new AppError("lease_superseded", "superseded");
    await expect(upload(parts, { renew: () => Promise.reject(refused) })).rejects.toBe(refused);
  });

  it("stops a renewal without delay, both when another part fails and after an abort", async () => {
    const controller = new AbortController();
    const reason = new Error("superseded");
    for (const stops of ["a failure", "an abort"] as const) {
      const requested = Promise.withResolvers<void>();
      const { origin } = await storage((request, response) => {
        request.resume();
        if (request.url?.includes("partNumber=1&")) response.writeHead(403).end();
        else if (stops === "a failure") void requested.promise.then(() => response.writeHead(404).end());
        return true;
      });
      const renew = (): Promise<never> => {
        requested.resolve();
        if (stops === "an abort") controller.abort(reason);
        return new Promise(() => {});
      };
      const sent = upload(partsOf(origin, 3_000_001), { renew, signal: controller.signal });
      if (stops === "a failure") await expect(sent).rejects.toMatchObject({ code: "storage_bucket_not_found" });
      else await expect(sent).rejects.toBe(reason);
    }
  });
});
