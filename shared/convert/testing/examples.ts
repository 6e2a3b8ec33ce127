// Requests of other services, with every field that the converters know.
export { default as COCONUT_V2_JOB } from "./coconut-job.json" with { type: "json" };
export { default as MEDIACONVERT_JOB } from "./mediaconvert-job.json" with { type: "json" };
export { default as ZENCODER_JOB } from "./zencoder-job.json" with { type: "json" };
