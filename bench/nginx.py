"""nginx as a plain streaming proxy: where it is, and the configuration it gets."""

import os
import shutil
from pathlib import Path

from bench import debian
from bench.process import NotStarted

SEARCH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"

_CONFIG = """\
daemon off;
{user}worker_processes 1;
worker_rlimit_nofile {files};
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log error;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    tcp_nodelay on;
    keepalive_timeout 90s;
    keepalive_requests 100000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream mock {{
        server 127.0.0.1:{mock_port};
        keepalive 4096;
        keepalive_requests 100000000;
    }}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{
            proxy_pass http://mock;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
            proxy_read_timeout 600s;
        }}
    }}
}}
"""


def program() -> str:
    """Installs Debian's package where that is possible. Raises NotStarted else."""
    if not shutil.which("nginx", path=SEARCH):
        debian.install("nginx-light")
    found = shutil.which("nginx", path=SEARCH)
    if found is None:
        raise NotStarted("nginx is not installed (Debian: apt-get install nginx-light)")
    return found


def configure(folder: Path, port: int, mock_port: int) -> Path:
    """Writes the configuration and returns its path."""
    path = folder / "nginx.conf"
    user = "user root;\n" if os.geteuid() == 0 else ""
    path.write_text(
        _CONFIG.format(
            folder=folder, port=port, mock_port=mock_port, user=user, connections=10_000, files=12_000
        )
    )
    return path
