// Formats JSON compactly: values that fit on a line stay on one line.

const LINE_CHARS = 108;

/** `room` is the number of characters on the line before the value. */
export function printJson(value: unknown, indent = "", room = indent.length): string {
  const line = oneLine(value);
  if (room + line.length <= LINE_CHARS || typeof value !== "object" || value === null) return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const members = Array.isArray(value)
    ? value.map((item) => printJson(item, inner))
    : Object.entries(value).map(([name, member]) => {
        const label = `${JSON.stringify(name)}: `;
        return label + printJson(member, inner, inner.length + label.length);
      });
  return `${open}\n${members.map((member) => inner + member).join(",\n")}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`);
  return members.length > 0 ? `{ ${members.join(", ")} }` : "{}";
}
