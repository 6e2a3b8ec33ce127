import { expect, it } from "vitest";
import { kindOf, unsupportedFormat } from "./not-media.ts";

it.each([
  ["<!DOCTYPE html><html><body>Sign in</body>", "a web page (text/html)"],
  ["\ufeff\n <!-- old -->\n<html lang=en>", "a web page (text/html)"],
  ["<HTML><HEAD>", "a web page (text/html)"],
  ["<!-- a --><!-- b -->\n<!doctype html>", "a web page (text/html)"],
  ["<!-- never closed <html>", null],
  ['<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code>', "an error in XML"],
  ['{"error":"not found"}', "JSON"],
  ["<htmlx>", null],
  ["\u0000\u0000\u0000 ftypisom", null],
  ["", null],
])("recognizes %j as %s", (text, kind) => {
  expect(kindOf(text)).toBe(kind);
});

it("recognizes a text with as many comments as fit into the bytes that are read", () => {
  // An expression that tries each comment in two ways takes longer than the universe exists.
  const comments = "<!---->".repeat(146);
  expect(kindOf(comments)).toBeNull();
  expect(kindOf(`${comments}<html>`)).toBe("a web page (text/html)");
});

it.each([
  ["DKIF\0\0", "an IVF file"],
  ["wvpk", "a WavPack file"],
  ["MAC \x96", "a Monkey's Audio file"],
  [".snd\0", "an AU file"],
  ["TTA1", "a TTA file"],
  ["FRM8\0\0\0\0\0\x01\0\0DSD FVER", "a DSDIFF file"],
  ["PG\0\x01\x5f\x90\0\0\0\0\x16\0\x13", "a file of PGS subtitles"],
  ["\xf8\x06iamf", "an IAMF file"],
  ["RIFF\xe0\x59\0\0WEBPVP8X\n\0\0\0\x12\0\0\0\x9f\0\0Y\0\0ANIM", "an animated WebP image"],
  ["RIFF\xe0\x59\0\0WEBPVP8X\n\0\0\0\x10\0\0\0\x9f\0\0Y\0\0VP8 ", null],
  ["RIFF\xe0\x59\0\0WAVEfmt ", null],
  ["\x1aE\xdf\xa3", null],
  ["", null],
])("recognizes the start %j as %s", (head, format) => {
  expect(unsupportedFormat(head)).toBe(format);
});
