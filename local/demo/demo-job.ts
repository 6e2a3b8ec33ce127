// The job that the demo and the example of `npm start` submit.
import type { StackFile } from "../home/stack-file.ts";

/** The folder in the bucket, new with every run, so that runs do not overwrite each other's results. */
export const newFolder = (now: Date): string => `demo-${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}`;

export const storageOf = ({ s3 }: StackFile): object => ({
  service: "s3other",
  endpoint: s3.endpoint,
  region: s3.region,
  bucket: s3.bucket,
  force_path_style: true,
  credentials: { access_key_id: s3.accessKeyId, secret_access_key: s3.secretAccessKey },
});

/** A video, five pictures and a stream of the source. */
export const demoJob = (stack: StackFile, sourceUrl: string, notifyUrl: string, folder: string): object => ({
  input: { url: sourceUrl },
  storage: storageOf(stack),
  outputs: {
    "mp4:720p": { path: `${folder}/720p.mp4` },
    "jpg:320x": { path: `${folder}/picture-%02d.jpg`, number: 5 },
    httpstream: { path: folder, hls: { path: "hls" }, dash: { path: "dash", hlsfmp4: true } },
  },
  notification: { type: "http", url: notifyUrl },
});
