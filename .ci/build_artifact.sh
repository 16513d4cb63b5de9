#!/usr/bin/env bash
# Fill the folder $1 with what runs in Lambda: locked wheels for its platform, and our code without the CLI.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:?usage: build_artifact.sh FOLDER}
runtime=${RUNTIME:-python3.13}
python=${PYTHON:-python3}
version=${runtime#python}

case ${ARCH:-arm64} in
  arm64) machine=aarch64 ;;
  x86_64) machine=x86_64 ;;
  *) echo "ARCH is arm64 or x86_64, not $ARCH." >&2; exit 1 ;;
esac

# pip takes platforms literally, so every accepted spelling is named. The runtimes' glibc is 2.34 from
# Python 3.12 on, and 2.26 before.
platforms=(--platform "manylinux2014_$machine" --platform "manylinux_2_17_$machine")
[[ $version == 3.11 ]] || platforms+=(--platform "manylinux_2_28_$machine")

"$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes \
  --only-binary=:all: "${platforms[@]}" --implementation cp --python-version "$version" \
  --target "$target" -r requirements-lambda.txt
rm -rf "$target/bin"

# Each new connection loads the whole CA bundle; in the `aws` partition these roots are enough (template.yaml).
PYTHONPATH=$target "$python" .ci/amazon_roots.py > "$target/amazon-roots.pem"

# What imports the CLI's libraries cannot be imported in Lambda, and nothing there needs it.
# (grep -L exits with 1 when it lists something.)
find handler policies strategies infra -name '*.py' -print0 |
  { xargs -0 grep -LE '^[[:space:]]*(from|import) (typer|rich|moto)([ .]|$)' || true; } |
  tar -cf - -T - | tar -xf - -C "$target"

# After our code is there: it says which services are needed.
PYTHONPATH=$target "$python" .ci/trim_sdk.py "$target"

# Byte code that is never checked against its source: a cold start compiles nothing and stats nothing.
# Only the runtime's own Python writes the byte code that the runtime reads.
for candidate in "$runtime" "$python"; do
  if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then
    exec "$candidate" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$target"
  fi
done
# On stdout: SAM does not show the other one.
echo "No $runtime here: the artifact holds no byte code, so each cold start compiles it anew."
