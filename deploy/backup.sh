#!/bin/sh
# A backup of one study, or of every study in a folder of studies; those older than KEEP_DAYS (30) go.
# usage: backup.sh FOLDER BACKUPS
set -eu
folder=$1
backups=$2
moment=$(date -u +%Y%m%d-%H%M%S)
failed=0

back_up() {
    # The others are backed up even when one cannot be; the last line says so by its exit code.
    relstudy admin backup "$1" -o "$backups/$(basename "$1")-$moment.db" || failed=1
}

if [ -e "$folder/study.toml" ]; then
    back_up "$folder"
else
    for study in "$folder"/*/; do
        if [ -e "$study/study.toml" ]; then
            back_up "${study%/}"
        fi
    done
fi
# Old ones go only when there are new ones.
[ "$failed" -ne 0 ] || find "$backups" -name '*-[0-9]*-[0-9]*.db' -type f -mtime "+${KEEP_DAYS:-30}" -delete
exit "$failed"
