import { XMLParser } from "fast-xml-parser";
import { expect, test } from "vitest";
import { element, textElement, xmlText } from "./xml.ts";

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "", trimValues: false });

test.each([
  ["&<>\"' é 😀 ]]> &amp;", "&<>\"' é 😀 ]]> &amp;"],
  ["\u0001 and \uFFFF are no characters of XML", "\uFFFD and \uFFFD are no characters of XML"],
])("a parser returns the text that was formatted: %j", (text, expected) => {
  const { root } = parser.parse(xmlText(element("root", { text }, [textElement("child", text)])));
  expect([root.text, root.child]).toEqual([expected, expected]);
});

test("attributes without a value are left out, and line breaks in attributes are kept", () => {
  expect(element("e", { a: null, b: 0, c: true, d: "x\ny" })).toEqual(['<e b="0" c="true" d="x&#10;y"/>']);
});
