#!/usr/bin/env bash
# Nextflow never resumes a task whose script names $launchDir, and resumes one whose input folder has changed files.
#
# One would guess: -resume runs a task again if its inputs changed, and only then.
# Version: Nextflow 24.10.0 (Maven Central), with Java 17.
# Seen: the variables of a script are part of the hash of its task, and the hash of a folder is that of its modification
# time. Each run writes its log into the launch folder, so a script with $launchDir has a new hash each time. With the
# same path as text, the task is resumed. A file of an input folder that is written again does not change the folder:
# the task is resumed with its old result. The same file as an input of its own makes the task run again.
# Why it matters to foley: all shards run again without a reason, or none after a chapter was corrected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>workflows</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>io.nextflow</groupId><artifactId>nextflow</artifactId><version>24.10.0</version></dependency>
  </dependencies>
</project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars > /dev/null
opened=()
for name in java.lang java.io java.nio java.nio.file.spi java.net java.util java.util.regex sun.nio.ch sun.nio.fs; do
  opened+=("--add-opens=java.base/$name=ALL-UNNAMED")
done
export NXF_HOME="$folder/home" NXF_OFFLINE=true NXF_ANSI_LOG=false
# Prints "Submitted" or "Cached".
resume() {
  java "${opened[@]}" -cp 'jars/*' nextflow.cli.Launcher run "$1" -resume | grep -oE 'Submitted|Cached'
}
workflow() { # name, first line, input, script, argument
  printf '%s\nprocess speak {\n  input:\n  %s\n  script:\n  """\n  %s\n  """\n}\nworkflow { speak(%s) }\n' \
    "$2" "$3" "$4" "$5" > "$1.nf"
}
mkdir texts
echo one > texts/a.txt
workflow launch '' 'val n' 'ls $launchDir' '1'
workflow text 'place = "$launchDir"' 'val n' 'ls $place' '1'
workflow folder '' 'path texts' 'cat $texts/a.txt' "file('texts')"
workflow files '' 'path texts' 'cat $texts' "files('texts/*')"
expect() { # what, workflow, expected
  local seen
  seen=$(resume "$2.nf")
  echo "$1: $seen"
  [ "$seen" = "$3" ]
}
expect 'launchDir, first run' launch Submitted
expect 'launchDir, again' launch Submitted
expect 'its text, first run' text Submitted
expect 'its text, again' text Cached
expect 'folder, first run' folder Submitted
expect 'files, first run' files Submitted
echo 'two words' > texts/a.txt
expect 'folder with a changed file' folder Cached
expect 'changed file' files Submitted
