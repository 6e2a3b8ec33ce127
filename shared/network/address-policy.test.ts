import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { HOSTILE_ADDRESSES, HOSTILE_NAMES, ALLOW_SETTINGS as SETTINGS } from "../testing/hostile-addresses.ts";
import { type AllowPrivate, addressAllowed, checkUrl, withOrigins } from "./address-policy.ts";

/** Address, and the settings that allow it. */
const ADDRESSES: readonly [string, readonly AllowPrivate[], string][] = [
  ["93.184.215.14", SETTINGS, "public"],
  ["8.8.8.8", SETTINGS, "public"],
  ["172.15.255.255", SETTINGS, "just below 172.16/12"],
  ["172.32.0.0", SETTINGS, "just above 172.16/12"],
  ["100.128.0.0", SETTINGS, "just above shared address space"],
  ["2606:4700:4700::1111", SETTINGS, "public IPv6"],
  ["2a00:1450:4001:80b::200e", SETTINGS, "public IPv6"],
  ["::ffff:8.8.8.8", SETTINGS, "mapped public"],
  ["64:ff9b::8.8.8.8", SETTINGS, "NAT64 of a public address"],
  ["2002:808:808::1", SETTINGS, "6to4 of a public address"],
  ["127.0.0.1", ["loopback", "all"], "loopback"],
  ["127.255.255.254", ["loopback", "all"], "all of 127/8"],
  ["::1", ["loopback", "all"], "IPv6 loopback"],
  ["::ffff:127.0.0.1", ["loopback", "all"], "mapped loopback"],
  ["::ffff:7f00:1", ["loopback", "all"], "mapped loopback in hex"],
  ["10.0.0.1", ["all"], "private"],
  ["172.16.0.1", ["all"], "private"],
  ["172.31.255.255", ["all"], "private"],
  ["192.168.1.1", ["all"], "private"],
  ["::ffff:192.168.1.1", ["all"], "mapped private"],
  ["fd12:3456::1", ["all"], "unique local"],
  ["fc00::1", ["all"], "unique local"],
  ["0.0.0.0", [], "unspecified, which is this machine on Linux"],
  ["0.1.2.3", [], "this network"],
  ["::", [], "unspecified"],
  ["::ffff:0.0.0.0", [], "mapped unspecified"],
  ["169.254.169.254", [], "cloud metadata"],
  ["169.254.0.1", [], "link-local"],
  ["::ffff:169.254.169.254", [], "mapped metadata"],
  ["fe80::1", [], "link-local"],
  ["fe80::1%eth0", [], "link-local with a zone"],
  ["febf::1", [], "end of link-local"],
  ["fd00:ec2::254", [], "metadata of AWS"],
  ["fd00:ec2::23", [], "credentials of AWS pods"],
  ["fd20:ce::254", [], "metadata of Google"],
  ["fd20:ce::253", ["all"], "beside the metadata of Google"],
  ["168.63.129.16", [], "wire server of Azure"],
  ["100.64.0.1", [], "shared address space"],
  ["100.100.100.200", [], "metadata of Alibaba"],
  ["192.0.0.1", [], "protocol assignments"],
  ["192.0.2.1", [], "documentation"],
  ["198.51.100.1", [], "documentation"],
  ["203.0.113.1", [], "documentation"],
  ["198.18.0.1", [], "benchmarking"],
  ["192.88.99.1", [], "6to4 relay"],
  ["224.0.0.1", [], "multicast"],
  ["240.0.0.1", [], "reserved"],
  ["255.255.255.255", [], "broadcast"],
  ["ff02::1", [], "multicast"],
  ["fec0::1", [], "site-local"],
  ["100::1", [], "discard"],
  ["2001:db8::1", [], "documentation"],
  ["3fff::1", [], "documentation"],
  ["2001::1", [], "Teredo"],
  ["5f00::1", [], "segment routing"],
  ["::8.8.8.8", [], "IPv4-compatible, outside global unicast"],
  ["64:ff9b::10.0.0.1", [], "NAT64 of a private address"],
  ["64:ff9b::127.0.0.1", [], "NAT64 of loopback"],
  ["64:ff9b::a9fe:a9fe", [], "NAT64 of metadata"],
  ["64:ff9b:1::8.8.8.8", [], "local NAT64"],
  ["2002:7f00:1::1", [], "6to4 of loopback"],
  ["2002:a00:1::1", [], "6to4 of a private address"],
  ["0x7f.1", [], "not plain notation"],
  ["010.8.8.8", [], "not plain notation"],
  ["2130706433", [], "not plain notation"],
  ["example.com", [], "no address"],
  ["", [], "no address"],
];

test.each(ADDRESSES)("%s is allowed under %j: %s", (ip, allowedUnder) => {
  expect(SETTINGS.filter((setting) => addressAllowed(ip, setting))).toEqual(allowedUnder);
});

describe("checkUrl", () => {
  it.each(HOSTILE_ADDRESSES)("%j is allowed from %s on: %s", (url, from) => {
    expect(SETTINGS.find((setting) => checkUrl(url, setting).ok) ?? null).toBe(from);
  });

  it.each([
    "http://example.com/a.mp4",
    "https://user:secret@cdn.example.com:8443/a%20b.mp4?x=1",
    "http://example.com./",
    "http://example.com。/",
    "https://[2606:4700:4700::1111]/a.mp4",
    "http://1.1.1.1:8080/",
    "http://localhost.example.com/",
    "http://127.0.0.1.example.com/",
    "http://internal.example.com/",
    "https://bücher.example/",
  ])("%s passes under every setting", (url) => {
    expect(SETTINGS.filter((setting) => checkUrl(url, setting).ok)).toEqual(SETTINGS);
  });

  it("returns the URL as parsed by the check, so that no other parser reads it differently", () => {
    expect(checkUrl("HTTP://Example.COM:80/a b", "none")).toEqual({ ok: true, value: "http://example.com/a%20b" });
    expect(checkUrl("http:\\\\example.com\\@127.0.0.1/", "none")).toEqual({
      ok: true,
      value: "http://example.com/@127.0.0.1/",
    });
    expect(checkUrl(" http://exa\tmple.com/\n", "none")).toEqual({ ok: true, value: "http://example.com/" });
  });

  it.each([
    [
      "http://user:secret@10.0.0.1/key",
      "has the host `10.0.0.1`, which is not a public address; the operator can allow it (--allow-private)",
    ],
    [
      "http://user:se@cret@10.0.0.1/?token=secret#secret",
      "has the host `10.0.0.1`, which is not a public address; the operator can allow it (--allow-private)",
    ],
    ["ftp://user:secret@example.com/", "has the scheme `ftp`, which is not supported; use http or https"],
    ["secret:password@example.com", "has a scheme that is not supported; use http or https"],
    ["http://user:secret@exa mple.com/", "is not a valid URL"],
    [
      `http://${"a.".repeat(1000)}local/`,
      `has the host \`${"a.".repeat(30)}\`, which is not a public address; the operator can allow it (--allow-private)`,
    ],
  ])("names the error of %s and no secret", (url, reason) => {
    expect(checkUrl(url, "none")).toEqual({ ok: false, error: reason });
  });
});

describe("IPv4 in any notation", () => {
  const byte = fc.nat({ max: 255 });
  /** Any address, often from a special range. */
  const address = fc.tuple(fc.oneof(byte, fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 224)), byte, byte, byte);
  const notation = fc.constantFrom(
    (part: number) => String(part),
    (part: number) => `0x${part.toString(16)}`,
    (part: number) => `0X00${part.toString(16).toUpperCase()}`,
    (part: number) => `0${part.toString(8)}`,
    (part: number) => String(part).replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  );
  const written = fc
    .tuple(address, fc.integer({ min: 1, max: 4 }), fc.array(notation, { minLength: 4, maxLength: 4 }))
    .chain(([bytes, count, notations]) => {
      const last = bytes.slice(count - 1).reduce((sum, part) => sum * 256 + part, 0);
      const parts = [...bytes.slice(0, count - 1), last].map((part, at) => notations[at]?.(part) ?? "");
      const host = fc.constantFrom(".", "。", "．", "%2e").map((dot) => parts.join(dot));
      return fc.record({ plain: fc.constant(bytes.join(".")), host });
    });

  it("has the same result as its plain form and its mapped IPv6 form", () => {
    fc.assert(
      fc.property(written, fc.constantFrom(...SETTINGS), ({ plain, host }, allow) => {
        const expected = addressAllowed(plain, allow);
        expect([host, checkUrl(`http://${host}/`, allow).ok]).toEqual([host, expected]);
        expect(checkUrl(`http://[::ffff:${plain}]/`, allow).ok).toBe(expected);
        const translated = checkUrl(`http://[64:ff9b::${plain}]/`, allow).ok;
        expect(translated).toBe(addressAllowed(plain, "none"));
      }),
      { numRuns: 500 },
    );
  });
});

it.each(HOSTILE_NAMES)("%s has no allowed address: %j", (_, addresses) => {
  expect(addresses.filter((address) => addressAllowed(address, "none"))).toEqual([]);
});

it.each([
  ["http://127.0.0.1:9000/bucket/a.mp4", true],
  ["http://127.0.0.1:9001/bucket/a.mp4", false],
  ["https://127.0.0.1:9000/", false],
  ["http://localhost:9000/", false],
  ["http://me@127.0.0.1:9000/", true],
  ["http://127.0.0.1:9000.example.com/", false],
  ["https://files.internal:443/a", true],
  ["http://169.254.169.254/", false],
])("allows the operator's own origins, but no other origins of their hosts: %s", (url, isAllowed) => {
  const policy = withOrigins("none", ["http://127.0.0.1:9000", "https://files.internal"]);
  expect(checkUrl(url, policy).ok).toBe(isAllowed);
});
