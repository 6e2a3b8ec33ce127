#!/usr/bin/env bash
# Submits a job with curl, waits for its end, and prints the URLs of the results.
# Usage: COPRA_KEY=k-… [COPRA_URL=…] [COPRA_STORAGE='{"service": …}'] examples/submit-job.sh <URL of a video>
set -euo pipefail

url=${COPRA_URL:-http://127.0.0.1:8787}
key=${COPRA_KEY:?Set COPRA_KEY to your API key; npm start prints one}
storage=${COPRA_STORAGE:-'{ "service": "coconut" }'}
webhook=${COPRA_WEBHOOK:-https://example.com/webhook}
source=${1:?Give the URL of a video}

# An Idempotency-Key makes it safe to repeat the request when its response is lost.
job=$(curl --silent --fail-with-body --user "$key:" --header "Idempotency-Key: $(date +%s)-$$" "$url/v2/jobs" --data '{
  "input": { "url": "'"$source"'" },
  "storage": '"$storage"',
  "outputs": {
    "mp4:360p": { "path": "examples/submit/360p.mp4" },
    "jpg:320x": { "path": "examples/submit/thumbnail.jpg" }
  },
  "notification": { "type": "http", "url": "'"$webhook"'" }
}') || { echo "$job" >&2; exit 1; }

# A job's status is job.starting until it is job.completed, job.failed or job.aborted.
id=$(sed 's/.*"id":"\([^"]*\)".*/\1/' <<< "$job")
while grep -q '"status":"job.starting"' <<< "$job"; do
  sleep 1
  job=$(curl --silent --fail-with-body --user "$key:" "$url/v2/jobs/$id")
  echo "job $id: $(sed 's/.*"progress":"\([0-9]*%\)","input.*/\1/' <<< "$job")" >&2
done

# The URLs of the outputs, which follow the input.
sed 's/.*"outputs"//' <<< "$job" | grep -o 'https\?://[^"]*'
grep -q '"status":"job.completed"' <<< "$job" || { echo "$job" >&2; exit 1; }
