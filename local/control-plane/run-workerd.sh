#!/bin/sh
# Starts workerd in a way that it does not outlive the process that started it: Miniflare kills it on an orderly end,
# but after a SIGKILL of Miniflare's process it would hold the port and the databases for ever.
# COPRA_WORKERD is the real program. Works with any POSIX shell; Linux' own means for this does not exist on macOS.
parent=$PPID
workerd=$$ # exec below keeps the process id
(
  # A killed parent that nobody reaps is still there for kill, but as a zombie.
  while kill -0 "$workerd" && kill -0 "$parent" && ! grep -q '^State:.*Z' "/proc/$parent/status"; do sleep 1; done
  kill -9 "$workerd"
) </dev/null >/dev/null 2>&1 3>&- &
exec "$COPRA_WORKERD" "$@"
