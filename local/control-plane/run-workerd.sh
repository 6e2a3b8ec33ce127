#!/bin/sh
# Starts workerd so that it does not outlive the process that started it. Miniflare kills it on a normal exit, but after a
# SIGKILL of Miniflare's process it would keep the port and the databases for ever. COPRA_WORKERD is the path of workerd.
# This works with any POSIX shell; Linux's parent-death signal does not exist on macOS.
parent=$PPID
workerd=$$ # exec below keeps the process id
(
  # For `kill -0` a dead parent that nobody reaped still exists, as a zombie.
  while kill -0 "$workerd" && kill -0 "$parent" && ! grep -q '^State:.*Z' "/proc/$parent/status"; do sleep 1; done
  kill -9 "$workerd"
) </dev/null >/dev/null 2>&1 3>&- &
exec "$COPRA_WORKERD" "$@"
