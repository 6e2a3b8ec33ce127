import { expect, it } from "vitest";
import { kindOf } from "./not-media.ts";

it.each([
  ["<!DOCTYPE html><html><body>Sign in</body>", "a web page (text/html)"],
  ["\ufeff\n <!-- old -->\n<html lang=en>", "a web page (text/html)"],
  ["<HTML><HEAD>", "a web page (text/html)"],
  ['<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code>', "an error in XML"],
  ['{"error":"not found"}', "JSON"],
  ["<htmlx>", null],
  ["\u0000\u0000\u0000 ftypisom", null],
  ["", null],
])("recognizes %j as %s", (text, kind) => {
  expect(kindOf(text)).toBe(kind);
});
