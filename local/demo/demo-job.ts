// The job that the demo submits and `npm start` shows as an example.
import type { JobRequest, StorageS3other } from "../../client/index.ts";
import type { StackFile } from "../home/stack-file.ts";

/** A new folder in the bucket, so that a run does not overwrite the results of another run. */
export const newFolder = (now: Date): string => `demo-${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}`;

export const storageOf = ({ s3 }: Pick<StackFile, "s3">): StorageS3other => ({
  service: "s3other",
  endpoint: s3.endpoint,
  region: s3.region,
  bucket: s3.bucket,
  force_path_style: true,
  credentials: { access_key_id: s3.accessKeyId, secret_access_key: s3.secretAccessKey },
});

/** A video, five thumbnails and a stream of the source. */
export const demoJob = (stack: StackFile, sourceUrl: string, notifyUrl: string, folder: string): JobRequest => ({
  input: { url: sourceUrl },
  storage: storageOf(stack),
  outputs: {
    "mp4:720p": { path: `${folder}/720p.mp4` },
    "jpg:320x": { path: `${folder}/thumbnail-%02d.jpg`, number: 5 },
    httpstream: { path: folder, hls: { path: "hls" }, dash: { path: "dash", hlsfmp4: true } },
  },
  notification: { type: "http", url: notifyUrl },
});
