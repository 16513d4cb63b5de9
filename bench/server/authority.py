"""A certificate authority of our own for the loopback, and the bundles that clients trust it by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

LOOPBACK = "127.0.0.1"
AUTHORITY = "authority.pem"


def issue(folder: Path) -> tuple[Path, Path]:
    """A server certificate and its key, good for a day. `trusting` makes the bundles for clients."""
    authority, authority_key = _certificate("setpoint bench", None, None)
    server, server_key = _certificate(LOOPBACK, authority, authority_key)
    certificate, key = folder / "server.pem", folder / "server-key.pem"
    certificate.write_bytes(server.public_bytes(Encoding.PEM))
    key.write_bytes(server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (folder / AUTHORITY).write_bytes(authority.public_bytes(Encoding.PEM))
    return certificate, key


def trusting(folder: Path, usual: Path) -> Path:
    """These usual roots with our authority among them."""
    bundle = folder / f"trusting-{usual.name}"
    bundle.write_bytes(usual.read_bytes() + b"\n" + (folder / AUTHORITY).read_bytes())
    return bundle


def _certificate(
    name: str, issuer: x509.Certificate | None, issuer_key: ec.EllipticCurvePrivateKey | None
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signer = issuer_key or key
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if issuer is None:
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        builder = builder.add_extension(usage, critical=True)
    else:
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK)), x509.DNSName("localhost")])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(signer, hashes.SHA256()), key
