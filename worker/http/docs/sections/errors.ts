// The table of errors.
import { ERRORS, type ErrorTraits } from "#shared/errors.ts";
import { ERROR_MEANINGS } from "../../openapi/error-meanings.ts";
import { ANSWER_EXAMPLES } from "../../openapi/examples/answers.ts";
import { code, errorAnchor, type Html, html, json, prose, section, table } from "../markup.ts";

type Entry = readonly [code: keyof typeof ERRORS, traits: ErrorTraits];
const ENTRIES = Object.entries(ERRORS) as Entry[];

export const errors = (): Html =>
  section(
    2,
    "errors",
    "Errors",
    html`<p>A request that cannot be served is answered with a JSON body. <code>message</code> is one sentence for people and may
change; <code>error_code</code> is for programs and does not.</p>`,
    json(ANSWER_EXAMPLES.Error, "An error"),
    section(
      3,
      "request-errors",
      "Answers to requests",
      table(
        "Errors that answer requests",
        ["error_code", "HTTP", "Meaning"],
        ENTRIES.filter(([, { http }]) => http !== null).map(([name, { http }]) => [
          anchored(name),
          String(http),
          prose(ERROR_MEANINGS[name]),
        ]),
      ),
    ),
    section(
      3,
      "status-errors",
      "Failures of the work",
      html`<p>These are no answers to requests: an input or output that failed carries them as <code>error_code</code>, with
<code>error</code> beside it. What may pass by itself was tried again before it failed.</p>`,
      table(
        "Errors of inputs and outputs",
        ["error_code", "Tried again", "Meaning"],
        [
          [code("input_http_<status>"), "by its status", prose("The input's server answered with this HTTP status.")],
          ...ENTRIES.filter(([, { http }]) => http === null).map(
            ([name, { retryable }]) => [anchored(name), retryable ? "yes" : "no", prose(ERROR_MEANINGS[name])] as const,
          ),
        ],
      ),
    ),
  );

const anchored = (name: string): Html => html`<span id="${errorAnchor(name)}">${code(name)}</span>`;
