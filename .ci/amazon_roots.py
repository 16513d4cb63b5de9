"""Print the certificates that AWS endpoints chain to, out of botocore's own bundle.

Each new connection loads the whole bundle, 31 ms of CPU for 140 roots. Amazon Trust Services signs the endpoints of
the `aws` partition with its four roots, which Starfield's cross-sign.
"""

import re
from pathlib import Path

import botocore

ROOTS = re.compile(
    r"CN=Amazon Root CA [1-4] O=Amazon"
    r"|CN=Starfield Services Root Certificate Authority - G2"
    r"|OU=Starfield Class 2"
)


def main() -> None:
    """Certificates in the bundle stand behind comments that name their subject."""
    bundle = (Path(botocore.__file__).parent / "cacert.pem").read_text()
    blocks = re.findall(r"# Issuer:.*?-----END CERTIFICATE-----\n", bundle, re.DOTALL)
    chosen = [block for block in blocks if ROOTS.search(block.split("-----BEGIN", 1)[0])]
    if len(chosen) < 6:
        raise SystemExit(f"found {len(chosen)} of the 6 roots of AWS in botocore's bundle; its form has changed")
    print("".join(chosen), end="")


if __name__ == "__main__":
    main()
