// The bucket of a cluster: that it can hold one, and that it belongs to the service with these secrets.
import { AwsClient } from "aws4fetch";
import { messageOf } from "#shared/log.ts";

/** Beside workerd's own objects, which are below `v1/`. */
const MARK = "copra.json";

/**
 * The mark of the service whose cluster is in the bucket. All methods reject with a message for the operator if the bucket
 * does not answer.
 */
export class ClusterBucket {
  readonly #bucket: string;
  readonly #url: string;
  readonly #body: string;
  readonly #client: AwsClient;

  /** `identity`: of the service. */
  constructor(bucket: string, aws: Readonly<Record<string, string>>, identity: string) {
    const { AWS_ENDPOINT_URL, AWS_REGION = "", AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "" } = aws;
    const endpoint = AWS_ENDPOINT_URL ?? `https://s3.${AWS_REGION}.amazonaws.com`;
    this.#bucket = bucket;
    this.#url = `${endpoint.replace(/\/$/, "")}/${bucket.slice("s3://".length)}/${MARK}`;
    this.#body = JSON.stringify({ identity });
    this.#client = new AwsClient({
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(aws.AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: aws.AWS_SESSION_TOKEN }),
      region: AWS_REGION,
      service: "s3",
    });
  }

  /** True if the bucket has no cluster yet. */
  async isNew(): Promise<boolean> {
    return (await this.#send("GET")).status === 404;
  }

  /**
   * Marks the bucket. Rejects if it has the mark of another service, or if it ignores conditions of writes: two instances
   * could then own one object.
   */
  async claim(): Promise<void> {
    await this.#send("PUT");
    if ((await this.#send("PUT")).ok) {
      throw new Error(
        `The cluster's bucket ${this.#bucket} ignores If-None-Match on PUT, so that two instances could own one object. ` +
          "Use a store with conditional writes, such as S3, R2 or MinIO",
      );
    }
    if ((await (await this.#send("GET")).text()) === this.#body) return;
    throw new Error(
      `The cluster in ${this.#bucket} has other secrets. Copy secrets.json from the data folder of one of its instances ` +
        "to this one",
    );
  }

  async #send(method: "GET" | "PUT"): Promise<Response> {
    const init = method === "PUT" ? { headers: { "if-none-match": "*" }, body: this.#body } : {};
    const response = await this.#client.fetch(this.#url, { method, ...init }).catch((error: unknown) => {
      throw new Error(`The cluster's bucket ${this.#bucket} does not answer: ${messageOf(error)}`);
    });
    if (response.ok || response.status === (method === "PUT" ? 412 : 404)) return response;
    const text = (await response.text()).slice(0, 500);
    throw new Error(`The cluster's bucket ${this.#bucket} refused ${method}: HTTP ${response.status} ${text}`);
  }
}
