import fc from "fast-check";
import { expect, it } from "vitest";
import { completeBody } from "../../shared/testing/arbitrary-body.ts";
import { KEPT, masked, unmasked, withoutSecrets } from "./secrets.ts";
import { hashOfRequest, requestOfHash } from "./state.ts";

const SECRETS = ["AKID", "secret", "c2VjcmV0", "user", "password", "signature", "token", "00112233"];
const jsonObject = fc.dictionary(
  fc.string().filter((name) => name !== "__proto__"),
  fc.jsonValue({ maxDepth: 3 }),
);

it("keeps requests in URLs without their secrets", () => {
  fc.assert(
    fc.property(completeBody, (body) => {
      const hash = hashOfRequest(body);
      for (const secret of SECRETS) expect(hash).not.toContain(`${secret}'`);
      expect(hash).not.toMatch(/hunter|AKID|password|signature/);
      expect(new URL(`https://copra.example.com/dashboard/new${hash}`).hash).toBe(hash);
      expect(requestOfHash(hash)).toEqual(withoutSecrets(body));
    }),
  );
});

it("keeps any JSON without URLs and credentials", () => {
  fc.assert(
    fc.property(jsonObject, (value) => {
      const request = requestOfHash(hashOfRequest({ outputs: value }));
      expect(request).toEqual(JSON.parse(JSON.stringify(withoutSecrets({ outputs: value }))));
    }),
  );
});

it.each([
  ["s3://AK:hunter2@bucket/a.mp4", "s3://bucket/a.mp4"],
  ["s3://AK:hun/ter2+/@bucket/a.mp4", "s3://bucket/a.mp4"],
  ["ftp://u:hunter2@ftp.example.com/in?hunter2#hunter2", "ftp://ftp.example.com/in"],
  ["\n https://u:hunter2@e.com:8443/@u/a.mp4?t=hunter2 ", "https://e.com:8443/@u/a.mp4"],
  ["HTTPS://hunter2@e.com", "HTTPS://e.com"],
  ["https://e.com:8443/@u/a.mp4", "https://e.com:8443/@u/a.mp4"],
])("takes secrets out of the URL %j", (url, shown) => {
  expect(withoutSecrets({ input: { url }, outputs: { mp4: [{ url }] } })).toEqual({
    input: { url: shown },
    outputs: { mp4: [{ url: shown }] },
  });
});

it("removes credentials in any place, and keeps members with similar names", () => {
  const misplaced = { secret_access_key: "hunter2", accessKeyId: "hunter2", "api-key": "hunter2", password: "hunter2" };
  const input = { service: "s3", key: "in/a.mp4", "session token": { value: "hunter2" }, ...misplaced };
  const rest = { encryption: { key_uri: "skd://asset" }, storage: { account_id: "0123", acl: "private" } };
  const hash = hashOfRequest({ input, ...rest, ...misplaced });
  expect(decodeURIComponent(hash)).not.toContain("hunter2");
  expect(requestOfHash(hash)).toMatchObject({ input: { service: "s3", key: "in/a.mp4" }, ...rest });
});

it("writes a fragment that is about as long as the JSON", () => {
  const request = { input: { url: "https://example.com/a.mp4" }, outputs: { "mp4:720p": { path: "a.mp4" } } };
  expect(hashOfRequest(request)).toBe(
    "#request=('input':('url':'https://example.com/a.mp4'),'outputs':('mp4:720p':('path':'a.mp4')))",
  );
});

it.each(["", "#", "#request=", "#request=!~", "#request=(", "#once=abc", "#request=%E0%A4%A"])(
  "ignores the invalid fragment %j",
  (hash) => expect(requestOfHash(hash)).toBeNull(),
);

it("hides secrets in the JSON to edit, and restores unedited secrets", () => {
  const before = {
    storage: { service: "s3", credentials: { access_key_id: "AKID", secret_access_key: "hunter2" } },
    outputs: { httpstream: { encryption: { key: "0011", key_uri: "https://u:p@k.example.com/1?t=1" } } },
  };
  const maskedState = masked(before);
  expect(maskedState.storage).toEqual({ service: "s3", credentials: { access_key_id: KEPT, secret_access_key: KEPT } });
  expect(unmasked(maskedState, before)).toEqual(before);
  const edited = {
    ...maskedState,
    storage: { service: "s3", credentials: { access_key_id: "new", secret_access_key: KEPT } },
  };
  expect(unmasked(edited, before).storage).toEqual({
    service: "s3",
    credentials: { access_key_id: "new", secret_access_key: "hunter2" },
  });
});
