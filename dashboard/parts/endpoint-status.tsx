import type { EndpointResult } from "../../client/index.ts";
import { duration } from "../core/format.ts";
import { Status } from "./status.tsx";

/** The response of an endpoint to a webhook. */
export const EndpointStatus = ({
  result: { delivered, status, error, seconds },
}: {
  readonly result: EndpointResult;
}) => (
  <p role="status">
    <Status status={delivered ? "completed" : "failed"} word={status === null ? "no response" : `HTTP ${status}`} />{" "}
    {error ?? `after ${duration(seconds)}`}
  </p>
);
