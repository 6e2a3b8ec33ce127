import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";
import { readServeSettings } from "./serve-settings.ts";

const DATA = { COPRA_HOME: "/srv/copra" };

it("by default listens on this machine only, and reaches public addresses only", () => {
  expect(readServeSettings(DATA)).toMatchObject({
    stack: {
      home: "/srv/copra",
      port: 8787,
      s3Port: 9000,
      nodes: 1,
      logsToStderr: false,
      service: { bind: "127.0.0.1", publicUrl: null, allowPrivate: "none", ownS3: true, variables: {} },
    },
    nodeTokenFile: null,
    drainMs: 20_000,
  });
});

it("passes on variables of the Worker, and runs no S3 server beside a bucket of the operator", () => {
  const scratch = { SCRATCH_ENDPOINT: "https://s3.example.com", SCRATCH_SECRET_ACCESS_KEY: "s", RETENTION_DAYS: "3" };
  const { service } = readServeSettings({ ...DATA, ...scratch, ADMIN_TOKEN: "mine", PATH: "/bin" }).stack;
  expect(service).toMatchObject({ ownS3: false, variables: scratch });
  expect(Object.keys(service.variables)).toHaveLength(3);
});

const BUCKET = { AWS_REGION: "auto", AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
const CLUSTER = {
  COPRA_CLUSTER: "s3://state/copra",
  COPRA_CLUSTER_ADDRESS: "10.0.0.5:8790",
  COPRA_PUBLIC_URL: "https://encode.example.com",
  COPRA_TRUSTED_PROXIES: "10.0.0.0/8",
  ...BUCKET,
};

it("joins a cluster with the credentials of its bucket, without an S3 server", () => {
  const { service } = readServeSettings({ ...DATA, ...CLUSTER, AWS_ENDPOINT_URL: "https://r2.example.com" }).stack;
  expect(service).toMatchObject({
    ownS3: false,
    cluster: {
      bucket: "s3://state/copra",
      address: "10.0.0.5:8790",
      aws: { ...BUCKET, AWS_ENDPOINT_URL: "https://r2.example.com" },
    },
  });
  expect(readServeSettings({ ...DATA, ...BUCKET }).stack.service.cluster).toBeUndefined();
});

const PUBLIC = { COPRA_PUBLIC_URL: "https://encode.example.com/" };
const HTTPS = { ...PUBLIC, COPRA_TRUSTED_PROXIES: "127.0.0.1" };
it.each<[string, Record<string, string>]>([
  ["behind a proxy with TLS", { COPRA_BIND: "0.0.0.0", ...PUBLIC, COPRA_TRUSTED_PROXIES: "10.0.0.0/8, ::1" }],
  ["with S3 behind a proxy with TLS", { COPRA_BIND: "::", COPRA_S3_URL: "https://s3.example.com", ...HTTPS }],
  ["without its S3 server", { COPRA_BIND: "::", COPRA_S3_URL: "http://s3.lan:9000", COPRA_S3: "off", ...HTTPS }],
  ["with a plain S3 server", { COPRA_BIND: "::", COPRA_S3_URL: "http://s3.lan", COPRA_INSECURE_HTTP: "1", ...HTTPS }],
  ["in a network of its own", { COPRA_BIND: "::", COPRA_INSECURE_HTTP: "1" }],
  ["for sources in private networks", { ...HTTPS, COPRA_ALLOW_PRIVATE: "all" }],
  ["for services of the machine, from the machine alone", { COPRA_ALLOW_PRIVATE: "loopback" }],
])("accepts settings to run %s", (_, env) => expect(() => readServeSettings({ ...DATA, ...env })).not.toThrow());

it("trusts no proxy if the operator declares that there is none", () => {
  const { service } = readServeSettings({ ...DATA, ...PUBLIC, COPRA_TRUSTED_PROXIES: "none" }).stack;
  expect(service.trustedProxies).toEqual([]);
});

it.each<[Record<string, string>, string]>([
  [{ COPRA_HOME: "" }, "Choose the folder of all data: --data"],
  [{ COPRA_PORT: "http" }, "COPRA_PORT must be a port"],
  [{ COPRA_BIND: "10.0.0.5" }, "--bind (COPRA_BIND) must be 127.0.0.1, 0.0.0.0 or ::"],
  [{ COPRA_PUBLIC_URL: "encode.example.com" }, "--public-url (COPRA_PUBLIC_URL) must be a URL without a path"],
  [{ COPRA_PUBLIC_URL: "https://example.com/copra" }, "--public-url (COPRA_PUBLIC_URL) must be a URL without a path"],
  [{ COPRA_TRUSTED_PROXIES: "proxy" }, '"proxy" is not an address or a network'],
  [{ COPRA_TRUSTED_PROXIES: "0.0.0.0/0" }, "must not be the whole internet"],
  [PUBLIC, "Give its address by --trusted-proxy"],
  [{ ...PUBLIC, COPRA_TRUSTED_PROXIES: "none, 10.0.0.1" }, '"none" is not an address or a network'],
  [{ COPRA_BIND: "0.0.0.0" }, "would cross the network unencrypted"],
  [{ COPRA_PUBLIC_URL: "http://encode.example.com" }, "would cross the network unencrypted"],
  [{ ...HTTPS, COPRA_BIND: "0.0.0.0", COPRA_S3_URL: "http://s3.lan:9000" }, "give its URL by --s3-url https://"],
  [{ ...HTTPS, COPRA_ALLOW_PRIVATE: "loopback" }, "could make it call every service of this machine"],
  [{ COPRA_ALLOW_PRIVATE: "some" }, "--allow-private (COPRA_ALLOW_PRIVATE) must be none, loopback or all"],
  [{ SMTP_URL: "mail.example.com" }, "SMTP_URL must be the URL of an SMTP server"],
  [{ SMTP_URL: "smtps://user:secret@mail.example.com" }, "SMTP_FROM must be the sender's e-mail address"],
  [{ COPRA_LOG: "syslog" }, "--log (COPRA_LOG) must be files or stderr"],
  [{ ...CLUSTER, COPRA_CLUSTER: "https://state/copra" }, "--cluster (COPRA_CLUSTER) must be s3://<bucket>/<prefix>"],
  [{ ...CLUSTER, COPRA_CLUSTER: "s3://state" }, "--cluster (COPRA_CLUSTER) must be s3://<bucket>/<prefix>"],
  [{ ...CLUSTER, COPRA_CLUSTER_ADDRESS: "" }, "--cluster needs --cluster-address"],
  [{ ...CLUSTER, COPRA_CLUSTER_ADDRESS: "10.0.0.5" }, "the instances talk unencrypted"],
  [{ ...CLUSTER, COPRA_CLUSTER_ADDRESS: "0.0.0.0:8790" }, "the instances talk unencrypted"],
  [{ ...CLUSTER, COPRA_CLUSTER_ADDRESS: "203.0.113.5:8790" }, "the instances talk unencrypted"],
  [{ ...CLUSTER, COPRA_CLUSTER_ADDRESS: "[2001:db8::1]:8790" }, "the instances talk unencrypted"],
  [{ ...CLUSTER, COPRA_CLUSTER_ADVERTISE: "gateway" }, "--cluster-advertise (COPRA_CLUSTER_ADVERTISE) must be"],
  [{ ...CLUSTER, COPRA_PUBLIC_URL: "" }, "--cluster needs --public-url"],
  [{ ...CLUSTER, COPRA_S3_URL: "https://s3.example.com" }, "--s3-url is not for a cluster"],
  [{ ...CLUSTER, AWS_SECRET_ACCESS_KEY: "" }, "--cluster needs the bucket's credentials in AWS_SECRET_ACCESS_KEY"],
  [{ COPRA_CLUSTER_ADDRESS: "10.0.0.5:8790" }, "--cluster-address is for an instance of a cluster"],
  [{ COPRA_DRAIN_SECONDS: "soon" }, "--drain-seconds (COPRA_DRAIN_SECONDS) must be a number"],
])("rejects the settings %j", (env, message) => expect(() => readServeSettings({ ...DATA, ...env })).toThrow(message));

it("ends with 2 for settings that are not valid, as commands do", () => {
  const argv = ["local/bootstrap.mjs", join(ROOT, "local/serve/serve.ts")];
  const { status, stderr } = spawnSync(process.execPath, argv, {
    cwd: ROOT,
    env: { ...process.env, COPRA_HOME: "/srv/copra", COPRA_PORT: "many" },
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([2, expect.stringContaining("COPRA_PORT must be a port")]);
});
