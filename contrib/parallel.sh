#!/bin/sh
# A sweep in parts with GNU parallel: on the cores of one machine, or over ssh on many.
#
#   contrib/parallel.sh PARTS OUT SCENARIO --vary … [other options of `retrylab sweep`]
#
# Run again after an interruption, it goes on where it was. JOBS parts run at once (one per core by
# default); RETRYLAB names the program. For other machines add --sshloginfile and a shared OUT to the call of
# parallel.
set -eu
if [ $# -lt 3 ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
parts=$1 out=$2
shift 2
retrylab=${RETRYLAB:-retrylab}
mkdir -p "$out.parts"
seq "$parts" | parallel --quote --jobs "${JOBS:-100%}" --halt soon,fail=1 --will-cite \
    "$retrylab" sweep "$@" --quiet --threads 1 --resume --shard "{}/$parts" --output "$out.parts/{}"
# shellcheck disable=SC2046 # one word per part
"$retrylab" merge $(seq -f "$out.parts/%g" "$parts") --fresh --output "$out"
