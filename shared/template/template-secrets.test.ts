import { describe, expect, it } from "vitest";
import { hideSecrets, hideTemplateSecrets, keepSecrets } from "./template-secrets.ts";

const TEMPLATE = {
  input: { url: "https://user:s3cret@origin.example.com/a.mov?sig=s3cret", headers: { authorization: "s3cret" } },
  storage: {
    service: "s3",
    bucket: "b",
    region: "us-east-1",
    credentials: { access_key_id: "id", secret_access_key: "s3cret" },
  },
  outputs: {
    mp4: [{ path: "a.mp4", watermark: { url: "https://example.com/w.png?s3cret" } }],
    httpstream: { hls: { path: "a" }, encryption: { key: "s3cret", key_uri: "https://example.com/key" } },
  },
  notification: { type: "http", url: "https://example.com/hook", params: { t: "s3cret" } },
};

describe("secrets of a template", () => {
  it("are left out of responses, and named", () => {
    const { value, leftOut } = hideSecrets(TEMPLATE);
    expect(JSON.stringify(value)).not.toContain("s3cret");
    expect(leftOut.map((path) => path.join("."))).toEqual([
      "input.url",
      "input.headers",
      "storage.credentials",
      "outputs.mp4.0.watermark.url",
      "outputs.httpstream.encryption.key",
      "notification.params",
    ]);
    expect(value).toMatchObject({
      storage: { bucket: "b" },
      outputs: { httpstream: { encryption: { key_uri: expect.any(String) } } },
    });
  });

  it("are hidden in wrong places, too", () => {
    const wrong = {
      storage: { secret_access_key: "s3cret", api_key: "s3cret", Password: "s3cret", app_key: "s3cret" },
    };
    expect(hideSecrets(wrong).value).toEqual({ storage: {} });
  });

  it.each([
    ..."https://u:pw@h/|https:\\\\u:pw@h|https:u:pw@h|  https://u:pw@h|ht\ttps://u:pw@h|HTTPS:/u:pw@h|https://u@x:pw@h|s3://u:pw@h/b".split(
      "|",
    ),
    ..."https://h/?pw|https:h#pw|wss://u:pw@h|https://{{ vars.h }}/?pw|https://u:pw@{{ vars.h }}/".split("|"),
  ])("are hidden in the URL %j, however it is spelled", (url) => {
    const { value, leftOut } = hideSecrets({ watermark: { url } });
    expect([JSON.stringify(value).includes("pw"), leftOut]).toEqual([false, [["watermark", "url"]]]);
    expect(keepSecrets(value, { watermark: { url } })).toEqual({ watermark: { url } });
  });

  it.each(["Note: who@home?", "a@b.example", "videos/a@b.mp4"])("are not looked for in the text %j", (text) => {
    expect(hideSecrets({ text })).toEqual({ value: { text }, leftOut: [] });
  });

  it("are hidden in defaults of variables that secret fields use, and kept while these fields are the same", () => {
    const credentials = { access_key_id: "id", secret_access_key: "{{ vars.sk }}" };
    const storage = { service: "s3", bucket: "b", path: "{{ vars.folder }}", credentials };
    const template = { storage, vars: { sk: "s3cret", folder: "f" } };
    const { value, leftOut } = hideTemplateSecrets(template);
    expect(value).toEqual({ storage: { service: "s3", bucket: "b", path: storage.path }, vars: { folder: "f" } });
    expect(leftOut).toEqual([
      ["storage", "credentials"],
      ["vars", "sk"],
    ]);
    expect(keepSecrets(value, template)).toEqual({ ...template, vars: { folder: "f", sk: "s3cret" } });
    const elsewhere = { ...template, storage: { ...storage, bucket: "other" }, vars: { folder: "f" } };
    expect(keepSecrets(elsewhere, template)).toEqual(elsewhere);
    const shownPath = { storage: { ...storage, path: "{{ vars.sk }}" }, vars: {} };
    expect(keepSecrets(shownPath, template)).toEqual(shownPath);
  });

  it("are kept by a new version that is a response with changes", () => {
    const { value } = hideSecrets(TEMPLATE);
    const next = { ...(value as typeof TEMPLATE), settings: { priority: 1 } };
    expect(keepSecrets(next, TEMPLATE)).toEqual({ ...TEMPLATE, settings: { priority: 1 } });
  });

  it("are not kept for another target, or when the new version has its own", () => {
    const publicTemplate = hideSecrets(TEMPLATE).value as typeof TEMPLATE;
    const storage = { ...publicTemplate.storage, bucket: "other" };
    const input = { url: "https://evil.example.com/a.mov" };
    const notification = { ...publicTemplate.notification, params: { t: "new" } };
    const template = keepSecrets({ input, storage, notification }, TEMPLATE);
    expect(template).toEqual({ input, storage, notification });
  });
});
