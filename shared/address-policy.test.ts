import { describe, expect, it, test } from "vitest";
import { type AllowPrivate, addressAllowed, checkUrl } from "./address-policy.ts";

const SETTINGS: readonly AllowPrivate[] = ["none", "loopback", "all"];

/** Address, and the settings under which it may be reached. */
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
  ["fd20:ce::254", [], "metadata of Google"],
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
  const URLS: readonly [string, readonly AllowPrivate[]][] = [
    ["http://example.com/a.mp4", SETTINGS],
    ["https://user:secret@cdn.example.com:8443/a%20b.mp4?x=1", SETTINGS],
    ["https://[2606:4700:4700::1111]/a.mp4", SETTINGS],
    ["http://127.0.0.1/", ["loopback", "all"]],
    ["http://127.0.0.1./", ["loopback", "all"]],
    ["http://2130706433/", ["loopback", "all"]],
    ["http://0x7f000001/", ["loopback", "all"]],
    ["http://0177.0.0.1/", ["loopback", "all"]],
    ["http://127.1/", ["loopback", "all"]],
    ["http://①②⑦.0.0.1/", ["loopback", "all"]],
    ["http://[::1]:9000/", ["loopback", "all"]],
    ["http://[::ffff:7f00:1]/", ["loopback", "all"]],
    ["http://localhost:9000/", ["loopback", "all"]],
    ["http://LOCALHOST./", ["loopback", "all"]],
    ["http://a.localhost/", ["loopback", "all"]],
    ["http://10.1.2.3/", ["all"]],
    ["http://intranet/", ["all"]],
    ["http://nas.local/", ["all"]],
    ["http://db.internal/", ["all"]],
    ["http://169.254.169.254/latest/meta-data/", []],
    ["http://0xa9fea9fe/", []],
    ["http://0/", []],
    ["http://[fe80::1]/", []],
    ["ftp://example.com/a.mp4", []],
    ["file:///etc/passwd", []],
    ["data:text/plain,x", []],
    ["//example.com/a.mp4", []],
    ["http://", []],
    ["not a url", []],
  ];

  it.each(URLS)("%s passes under %j", (url, passesUnder) => {
    expect(SETTINGS.filter((setting) => checkUrl(url, setting).ok)).toEqual(passesUnder);
  });

  it("answers the normalised URL, and reasons that repeat no credentials", () => {
    expect(checkUrl("HTTP://Example.COM:80/a b", "none")).toEqual({ ok: true, url: "http://example.com/a%20b" });
    expect(checkUrl("http://user:secret@10.0.0.1/key", "none")).toEqual({
      ok: false,
      reason: "The host `10.0.0.1` is not a public address",
    });
  });
});
