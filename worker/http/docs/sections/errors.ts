// The error table.
import { ERRORS, type ErrorTraits } from "#shared/errors.ts";
import { ERROR_DESCRIPTIONS } from "../../openapi/error-descriptions.ts";
import { RESPONSE_EXAMPLES } from "../../openapi/examples/responses.ts";
import { code, errorAnchor, type Html, html, json, prose, section, table } from "../markup.ts";

type Entry = readonly [code: keyof typeof ERRORS, traits: ErrorTraits];
const ENTRIES = Object.entries(ERRORS) as Entry[];

export const errors = (): Html =>
  section(
    2,
    "errors",
    "Errors",
    html`<p>Error responses have a JSON body. <code>message</code> is a sentence for people and may change;
<code>error_code</code> is for programs and does not change.</p>`,
    json(RESPONSE_EXAMPLES.Error, "An error"),
    section(
      3,
      "request-errors",
      "Error responses",
      table(
        "Error codes of responses",
        ["error_code", "HTTP", "Description"],
        ENTRIES.filter(([, { http }]) => http !== null).map(([name, { http }]) => [
          anchored(name),
          String(http),
          prose(ERROR_DESCRIPTIONS[name]),
        ]),
      ),
    ),
    section(
      3,
      "status-errors",
      "Failed inputs and outputs",
      html`<p>A failed input or output has one of these codes as <code>error_code</code>, and a sentence as <code>error</code>.
Errors that may be temporary are retried before the input or output fails.</p>`,
      table(
        "Errors of inputs and outputs",
        ["error_code", "Retried", "Description"],
        [
          [
            code("input_http_<status>"),
            "depends on the status",
            prose("The server of the input responded with this HTTP status."),
          ],
          ...ENTRIES.filter(([, { http }]) => http === null).map(
            ([name, { retryable }]) =>
              [anchored(name), retryable ? "yes" : "no", prose(ERROR_DESCRIPTIONS[name])] as const,
          ),
        ],
      ),
    ),
  );

const anchored = (name: string): Html => html`<span id="${errorAnchor(name)}">${code(name)}</span>`;
