"""Certificates for tests, made by openssl: that of OPENSSL, or the one of the path."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import grpc


@dataclass(frozen=True)
class Certificate:
    """One that signs itself, as PEM."""

    key: bytes
    certificate: bytes

    def server(self, client: Certificate | None = None) -> grpc.ServerCredentials:
        """What a server shows that has it, and which wants that of the client, if one is given."""
        roots = None if client is None else client.certificate
        pair = (self.key, self.certificate)
        return grpc.ssl_server_credentials([pair], root_certificates=roots, require_client_auth=client is not None)


def make_certificate(folder: Path, host: str, days: int = 30) -> Certificate:
    """Makes one for a host; -1 days: one that has expired."""
    key, request, extension, certificate = (folder / f"{host}{days}.{end}" for end in ("key", "csr", "ext", "pem"))
    kind = "IP" if host[0].isdigit() else "DNS"
    extension.write_text(f"subjectAltName={kind}:{host}\nbasicConstraints=CA:TRUE\n")
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key)]
    _openssl("req", "-new", *new, "-out", str(request), "-subj", f"/CN={host}")
    signed = ["-signkey", str(key), "-days", str(days), "-extfile", str(extension), "-out", str(certificate)]
    _openssl("x509", "-req", "-in", str(request), *signed)
    return Certificate(key.read_bytes(), certificate.read_bytes())


def _openssl(*arguments: str) -> None:
    subprocess.run([os.environ.get("OPENSSL", "openssl"), *arguments], check=True, capture_output=True, timeout=60)
