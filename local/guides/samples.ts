// Samples of requests in other languages, from the curl commands of the pages.
import { isObject } from "../../dashboard/new-job/secrets.ts";

/** A request with shell variables (`$API`) in its texts. */
export type SampleRequest = {
  readonly method: string;
  readonly url: string;
  /** The variable with the API key; null without. */
  readonly key: string | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The JSON text and its value; null without a body. */
  readonly body: { readonly text: string; readonly value: object } | null;
};

/** The request of a curl command. Null for other commands, several commands, and bodies that are no JSON text. */
export function requestOf(command: string): SampleRequest | null {
  const [program, ...words] = command.replaceAll("\\\n", " ").match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? [];
  if (program !== "curl") return null;
  let request: SampleRequest = { method: "", url: "", key: null, headers: [], body: null };
  for (let at = 0; at < words.length; at += 1) {
    const word = bare(words[at] ?? "");
    const value = bare(words[at + 1] ?? "");
    if (/^(?:\$|https?:)/.test(word) && request.url === "") request = { ...request, url: word };
    else {
      const next = withOption(request, word, value);
      if (next === null) return null;
      request = next;
      at += 1;
    }
  }
  return request.url === "" ? null : { ...request, method: request.method || (request.body ? "POST" : "GET") };
}

const bare = (word: string): string => word.replace(/^(['"])([\s\S]*)\1$/, "$2");

function withOption(request: SampleRequest, option: string, value: string): SampleRequest | null {
  const [, key = null] = /^\$(\w+):$/.exec(value) ?? [];
  if (option === "-u" && key !== null) return { ...request, key };
  if (option === "-X") return { ...request, method: value };
  const [, name = "", text = ""] = /^([\w-]+): (.*)$/.exec(value) ?? [];
  if (option === "-H" && name !== "") return { ...request, headers: [...request.headers, [name, text]] };
  const body = option === "-d" ? parsed(value) : null;
  return body === null ? null : { ...request, body: { text: value, value: body } };
}

function parsed(text: string): object | null {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The variables of a request, in their order. */
const variablesOf = ({ url, key, headers }: SampleRequest): string[] => {
  const used = [url, ...headers.map(([, value]) => value)].join(" ").matchAll(/\$(\w+)/g);
  return [...new Set([...[...used].map(([, name = ""]) => name), ...(key === null ? [] : [key])])];
};

const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

/** The same request in each language. */
export const SAMPLES: Readonly<Record<string, (request: SampleRequest) => string>> = {
  TypeScript: ({ method, url, key, headers, body }) => {
    const template = (text: string): string =>
      text.includes("$") ? `\`${text.replace(/\$(\w+)/g, `$\{$1}`)}\`` : JSON.stringify(text);
    const fields = [
      ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${template(value)}`),
      ...(key === null ? [] : [`authorization: \`Basic \${btoa(\`\${${key}}:\`)}\``]),
    ];
    return [
      `const { ${variablesOf({ method, url, key, headers, body }).join(", ")} } = process.env;`,
      `const response = await fetch(${template(url)}, {`,
      ...(method === "GET" ? [] : [`  method: "${method}",`]),
      ...(fields.length === 0 ? [] : [`  headers: { ${fields.join(", ")} },`]),
      ...(body === null ? [] : [`  body: JSON.stringify(${indented(body.text, "  ")}),`]),
      "});",
      "console.log(await response.text());",
    ].join("\n");
  },
  Python: ({ method, url, key, headers, body }) => {
    const template = (text: string): string => `f${JSON.stringify(text.replace(/\$(\w+)/g, "{os.environ['$1']}"))}`;
    const literal = (text: string): string =>
      text.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (word) => PYTHON_WORDS[word] ?? word);
    const options = [
      ...(key === null ? [] : [`auth=(os.environ["${key}"], "")`]),
      ...(headers.length === 0
        ? []
        : [`headers={${headers.map(([name, value]) => `"${name}": ${template(value)}`).join(", ")}}`]),
      ...(body === null ? [] : [`json=${literal(body.text)}`]),
    ];
    const call = [template(url), ...options].join(", ");
    return `import os, requests\n\nresponse = requests.${method.toLowerCase()}(${call})\nprint(response.text)`;
  },
  PHP: ({ method, url, key, headers, body }) => {
    const template = (text: string): string => JSON.stringify(text).replace(/\$(\w+)/g, '" . getenv("$1") . "');
    const tidy = (text: string): string => text.replace(/^"" \. | \. ""$/g, "");
    return [
      `$curl = curl_init(${tidy(template(url))});`,
      "curl_setopt_array($curl, [",
      `    CURLOPT_CUSTOMREQUEST => "${method}",`,
      ...(key === null ? [] : [`    CURLOPT_USERPWD => getenv("${key}") . ":",`]),
      ...(headers.length === 0
        ? []
        : [
            `    CURLOPT_HTTPHEADER => [${headers.map(([name, value]) => tidy(template(`${name}: ${value}`))).join(", ")}],`,
          ]),
      ...(body === null ? [] : [`    CURLOPT_POSTFIELDS => <<<'JSON'\n${body.text}\nJSON,`]),
      "]);",
      "curl_exec($curl);",
    ].join("\n");
  },
};

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
