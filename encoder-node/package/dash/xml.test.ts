import { XMLParser } from "fast-xml-parser";
import { expect, test } from "vitest";
import { element, textElement, xmlText } from "./xml.ts";

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "", trimValues: false });

test.each([
  ["&<>\"' é 😀 ]]> &amp;", "&<>\"' é 😀 ]]> &amp;"],
  ["\u0001 and \uFFFF are no characters of XML", "\uFFFD and \uFFFD are no characters of XML"],
])("text comes out of a parser as it went in: %j", (text, expected) => {
  const { root } = parser.parse(xmlText(element("root", { text }, [textElement("child", text)])));
  expect([root.text, root.child]).toEqual([expected, expected]);
});

test("attributes without a value are left out, line breaks in attributes kept", () => {
  expect(element("e", { a: null, b: 0, c: true, d: "x\ny" })).toEqual(['<e b="0" c="true" d="x&#10;y"/>']);
});
