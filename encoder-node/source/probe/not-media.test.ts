import { expect, it } from "vitest";
import { kindOf } from "./not-media.ts";

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

it("recognizes a text of as many comments as fit into what is read of a source", () => {
  // An expression that tries each comment in two ways takes longer than the universe exists.
  const comments = "<!---->".repeat(146);
  expect(kindOf(comments)).toBeNull();
  expect(kindOf(`${comments}<html>`)).toBe("a web page (text/html)");
});
