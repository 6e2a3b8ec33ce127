import { afterAll, afterEach, describe, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import type { UploadPart } from "#shared/protocol/protocol.ts";
import { closeStorages, endUploads, FILM, md5, partsOf, storage, upload } from "../testing/upload-storage.ts";
import { bytesContent } from "./content.ts";

afterEach(closeStorages);
afterAll(endUploads);

describe("signatures that have grown old", () => {
  /** Takes what is signed with `good()`, and refuses all else in these words. */
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
  ])(
    "are asked for anew, once for all parts, and what is stored is not sent again: HTTP %i %s",
    async (status, body) => {
      let good = "secret";
      const { origin, taken, tries } = await signedStorage(() => good, status, body);
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
      expect(taken.length).toBe(13);
      expect(etags).toEqual(parts.map(({ offset, sizeBytes }) => md5(FILM.subarray(offset, offset + sizeBytes))));
      expect(Math.max(...tries.values())).toBe(1);
    },
  );

  it("are asked for as often as they have worked in between", async () => {
    const { origin, taken } = await signedStorage(() => (taken.length < 4 ? "secret" : `new${taken.length >> 2}`));
    const parts = partsOf(origin, 500_000, 6_000_000);
    let renewals = 0;
    const renew = async () => ({ parts: signedWith(`new${++renewals}`, parts) });
    await upload(parts, { content: bytesContent(FILM.subarray(0, 6_000_000)), renew });
    expect([renewals, taken.length]).toEqual([2, 12]);
  });

  it("are wrong, not old, when fresh ones are refused as well", async () => {
    const { origin, tries } = await signedStorage(() => "never");
    const parts = partsOf(origin, FILM.length);
    const renew = async () => ({ parts: signedWith("new", parts) });
    await expect(upload(parts, { renew })).rejects.toMatchObject({ code: "storage_denied" });
    expect([...tries.values()]).toEqual([1, 1]);
  });

  it("may not be replaced by those of another upload, nor by none", async () => {
    const { origin } = await signedStorage(() => "never");
    const parts = partsOf(origin, FILM.length);
    await expect(upload(parts, { renew: async () => ({ parts: partsOf(origin, 500_000) }) })).rejects.toMatchObject({
      code: "node_failed",
    });
    const refused = new AppError("lease_superseded", "Nobody wants it");
    await expect(upload(parts, { renew: () => Promise.reject(refused) })).rejects.toBe(refused);
  });

  it("hold nobody up who is to stop: not when another part fails for good, nor when nobody wants it any more", async () => {
    const controller = new AbortController();
    const reason = new Error("superseded");
    for (const stops of ["a failure", "an abort"] as const) {
      const asked = Promise.withResolvers<void>();
      const { origin } = await storage((request, response) => {
        request.resume();
        if (request.url?.includes("partNumber=1&")) response.writeHead(403).end();
        else if (stops === "a failure") void asked.promise.then(() => response.writeHead(404).end());
        return true;
      });
      const renew = (): Promise<never> => {
        asked.resolve();
        if (stops === "an abort") controller.abort(reason);
        return new Promise(() => {});
      };
      const sent = upload(partsOf(origin, 3_000_001), { renew, signal: controller.signal });
      if (stops === "a failure") await expect(sent).rejects.toMatchObject({ code: "storage_bucket_not_found" });
      else await expect(sent).rejects.toBe(reason);
    }
  });
});
