"""A PostgreSQL server for tests, and a proxy that can cut a connection between COMMIT and its reply."""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

USER = "skdpmic-tests"  # the server refuses root
PASSWORD = "correct horse"
IN_A_URL = "correct%20horse"


def binaries():
    """The folder of the newest installed server, or None."""
    folders = glob.glob("/usr/lib/postgresql/*/bin")  # Debian's
    if found := shutil.which("initdb"):
        folders.append(os.path.dirname(os.path.realpath(found)))
    return max((folder for folder in folders if os.path.exists(f"{folder}/initdb")), default=None)


def make_user():
    """Create a user that may run a server if we are root."""
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(USER)
    subprocess.run(["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER], check=False)
    return pwd.getpwnam(USER)  # perhaps by another worker


class Server:
    """A password-protected server in a temporary folder, for this machine only."""

    def __init__(self):
        if (found := binaries()) is None:
            pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
        self._binaries = found
        self._folder = Path(tempfile.mkdtemp(prefix="skdpmic-postgresql-"))
        self._owner = {}
        if os.getuid() == 0:
            user = make_user()
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            self._owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        passwords = self._folder / "password"
        passwords.write_text(PASSWORD)
        passwords.chmod(0o644)
        options = ["--username=admin", "--auth=scram-sha-256", f"--pwfile={passwords}", "--no-sync", "--encoding=UTF8"]
        self._run("initdb", *options, "--locale=C")
        self.start()
        self._n_databases = 0

    def start(self, seconds=30):
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        end = time.monotonic() + seconds
        while True:  # processes of a killed server may still be running
            try:
                return self._run("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", options, "start")
            except subprocess.CalledProcessError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def stop(self, mode="immediate"):
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def kill(self):
        """Kill it without a clean shutdown."""
        process = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(process, signal.SIGKILL)

    def remove(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def new_database(self):
        """Create an empty database and return its name."""
        self._n_databases += 1
        self.execute(f"CREATE DATABASE budget{self._n_databases}")
        return f"budget{self._n_databases}"

    def url(self, database, user="admin", password=IN_A_URL, port=None):
        login = user if password is None else f"{user}:{password}"
        return f"postgresql+psycopg://{login}@127.0.0.1:{port or self.port}/{database}?sslmode=disable"

    def execute(self, sql, database="postgres"):
        """Run SQL as the administrator."""
        import psycopg

        options = {"host": "127.0.0.1", "port": self.port, "user": "admin", "password": PASSWORD}
        with contextlib.closing(psycopg.connect(dbname=database, autocommit=True, **options)) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else None

    def _run(self, program, *options):
        data = f"{self._folder}/data"
        subprocess.run(
            [f"{self._binaries}/{program}", "-D", data, *options],
            check=True,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self._owner,
        )


class Wire:
    """A proxy between client and server that interferes with the first COMMIT as `at_commit` says.

    Parameters
    ----------
    port : int
        The server's port.
    at_commit : {"lose the answer", "lose the question", "delay the question"}
        Cut the client off after the COMMIT was answered; before it is sent; or before it is sent, and send it later.
    """

    def __init__(self, port, at_commit):
        self._server_port, self._at_commit = port, at_commit
        self.n_cut = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self):
        self._listener.close()

    def _listen(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server_port))
                answers = threading.Event()  # set while messages are passed on
                answers.set()
                for work in (self._questions, self._answers):
                    threading.Thread(target=work, args=(client, server, answers), daemon=True).start()

    def _questions(self, client, server, answers):
        with contextlib.suppress(OSError):
            while message := client.recv(65536):
                if b"COMMIT\0" in message and self._is_first():
                    answers.clear()
                    self._cut(client, server, message)
                    return
                server.sendall(message)
        server.close()

    def _answers(self, client, server, answers):
        with contextlib.suppress(OSError):
            while message := server.recv(65536):
                if not answers.is_set():
                    self.lost = message
                    return
                client.sendall(message)
            if answers.is_set():
                client.shutdown(socket.SHUT_RDWR)

    def _is_first(self):
        with self._lock:
            self.n_cut += 1
            return self.n_cut == 1

    def _cut(self, client, server, message):
        if self._at_commit == "lose the answer":
            server.sendall(message)
            while not hasattr(self, "lost"):
                time.sleep(0.005)
            assert b"COMMIT\0" in self.lost
        client.shutdown(socket.SHUT_RDWR)
        if self._at_commit == "delay the question":
            time.sleep(0.7)
            server.sendall(message)
            time.sleep(0.1)
        server.shutdown(socket.SHUT_RDWR)
