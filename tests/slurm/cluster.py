"""A real Slurm of one node on loopback, in a folder of its own.

munge, slurmctld, slurmd, and slurmdbd with MariaDB for accounts: started without systemd, stopped
by the process ids that they wrote. Nothing outside of the folder is touched but a link,
/etc/slurm/slurm.conf: the plugin takes SLURM_CONF out of the environment of its inner srun, which
therefore finds the configuration only there.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

LINK = Path("/etc/slurm/slurm.conf")
PROGRAMS = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "slurmdbd": "slurmdbd",
    "mariadbd": "mariadb-server",
}
CPUS = 8  # that Slurm believes in; the machine may have fewer
LONGEST = 120  # minutes that a job may ask for
ACCOUNT = "lab"

SLURM_CONF = """\
ClusterName=looptest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={ports[2]}
AccountingStoragePass={root}/munge/socket
AccountingStorageEnforce=associations
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=5
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
PlugStackConfig={root}/plugstack.conf
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd.log
SlurmdParameters=config_overrides
EnforcePartLimits=ALL
ReturnToService=2
InactiveLimit=0
KillWait=2
MinJobAge=86400
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=64000
PartitionName=main Nodes={host} MaxTime={longest} State=UP
"""

SLURMDBD_CONF = """\
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={ports[2]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket
CommunicationParameters=NoInAddrAny
LogFile={root}/slurmdbd.log
PidFile={root}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={ports[3]}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm_acct_db
"""


def obstacle():
    """Why no Slurm can be started here, in one line; None if one can."""
    if os.geteuid() != 0:
        return "a Slurm of one's own needs root"
    if LINK.is_symlink() or LINK.exists():
        return f"{LINK} belongs to another Slurm"
    missing = sorted({package for name, package in PROGRAMS.items() if shutil.which(name) is None})
    if missing:
        return f"not installed: apt-get install --no-install-recommends {' '.join(missing)}"
    return None


def free_ports(count):
    """Ports on loopback that nobody listens at."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [place.getsockname()[1] for place in sockets]
    for place in sockets:
        place.close()
    return ports


def wait_until(condition, seconds, what):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def ended(number):
    """Whether a process has ended, though its parent may not have asked."""
    try:
        return "State:\tZ" in Path(f"/proc/{number}/status").read_text()
    except OSError:
        return True


def seconds(text):
    """Seconds of a time as sacct prints it, [hours:]minutes:seconds."""
    total = 0.0
    for part in text.split(":"):
        total = 60 * total + float(part)
    return total


class Cluster:
    """The daemons and their folder."""

    def __init__(self, root):
        self.root = root
        self.database = None  # the one daemon that does not leave its parent
        self.started = []  # names of daemons, in the order in which they were started

    def start(self):
        """Bring everything up."""
        host = socket.gethostname().partition(".")[0]
        ports, password = free_ports(4), secrets.token_hex(12)
        names = {"root": self.root, "host": host, "ports": ports, "cpus": CPUS}
        (self.root / "plugstack.conf").touch()
        for folder in ("state", "spool", "munge", "mysql"):
            (self.root / folder).mkdir()
        (self.root / "munge").chmod(0o755)
        self.write("slurm.conf", SLURM_CONF.format(**names, longest=LONGEST), 0o644)
        self.write("slurmdbd.conf", SLURMDBD_CONF.format(**names, password=password), 0o600)
        os.environ["SLURM_CONF"] = str(self.root / "slurm.conf")
        LINK.parent.mkdir(exist_ok=True)
        LINK.symlink_to(self.root / "slurm.conf")
        self.start_munge()
        self.start_database(ports[3], password)
        self.launch("slurmdbd")
        self.retry("sacctmgr", "-n", "-i", "list", "cluster")
        for words in (
            "cluster looptest",
            f"account {ACCOUNT} Description={ACCOUNT} Organization={ACCOUNT}",
            f"user root Account={ACCOUNT}",
        ):
            self.run("sacctmgr", "-Q", "-i", "add", *words.split())
        self.start_controller()
        self.launch("slurmd")
        wait_until(lambda: self.ask("sinfo", "-h", "-o", "%t") == "idle", 300, "slurmd")

    def start_munge(self):
        """Munge with a key and a socket of its own."""
        folder = self.root / "munge"
        key = folder / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        self.launch(
            "munged",
            f"--key-file={key}",
            f"--socket={folder}/socket",
            f"--pid-file={self.root}/munged.pid",
            f"--log-file={folder}/log",
            f"--seed-file={folder}/seed",
        )

    def start_database(self, port, password):
        """MariaDB for the accounts."""
        folder, place = self.root / "mysql", self.root / "mysql.sock"
        self.run(
            "mariadb-install-db",
            "--no-defaults",
            "--user=root",
            f"--datadir={folder}",
            "--auth-root-authentication-method=socket",
            "--skip-test-db",
        )
        with open(self.root / "mariadbd.log", "w") as log:
            self.database = subprocess.Popen(
                [
                    "mariadbd",
                    "--no-defaults",
                    "--user=root",
                    f"--datadir={folder}",
                    f"--socket={place}",
                    f"--pid-file={self.root}/mariadbd.pid",
                    "--bind-address=127.0.0.1",
                    f"--port={port}",
                    "--innodb-buffer-pool-size=64M",
                    "--innodb-lock-wait-timeout=900",
                    "--innodb-flush-log-at-trx-commit=0",
                    "--skip-name-resolve",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append("mariadbd")
        self.retry("mariadb-admin", "--no-defaults", "-S", str(place), "ping")
        self.run(
            "mariadb",
            "--no-defaults",
            "-S",
            str(place),
            "-e",
            "create database slurm_acct_db;"
            f"create user 'slurm'@'127.0.0.1' identified by '{password}';"
            "grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';",
        )

    def start_controller(self):
        """slurmctld, with what it saved when it was stopped."""
        self.launch("slurmctld")
        wait_until(lambda: "is UP" in self.ask("scontrol", "ping"), 300, "slurmctld")

    def stop(self):
        """Take everything down, the last first, and remove the link."""
        try:
            self.ask("scancel", "--user=root")
            wait_until(lambda: not self.ask("squeue", "-h", "-o", "%i"), 20, "end of all jobs")
        except (TimeoutError, subprocess.TimeoutExpired):
            pass  # a controller that is down answers nobody; its daemons are killed all the same
        finally:
            for name in reversed(list(dict.fromkeys(self.started))):
                self.kill(name)
            if self.database is not None:
                self.database.wait(timeout=20)
            if LINK.is_symlink() and LINK.readlink() == self.root / "slurm.conf":
                LINK.unlink()
            os.environ.pop("SLURM_CONF", None)

    def left_behind(self):
        """Processes that belong to the folder, and the link: empty if all is gone."""
        found = [str(LINK)] if LINK.is_symlink() else []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:  # it has just ended
                continue
            if str(self.root) in command:
                found.append(command)
        return found

    def jobs(self, folder):
        """Number and state of all jobs that were submitted from a folder, the first one first."""
        lines = self.ask("squeue", "--states=all", "-h", "-S", "i", "-o", "%i|%T|%Z").splitlines()
        rows = [line.split("|") for line in lines]
        return [(number, state) for number, state, place in rows if place == str(folder)]

    def usage(self, number):
        """What a job that has ended asked for and used, from the accounts."""
        fields = ("State", "TimelimitRaw", "ReqMem", "ElapsedRaw", "TotalCPU", "MaxRSS")
        command = ["sacct", "-nP", "--units=M", "-j", number, "-o", ",".join(fields)]
        wait_until(
            lambda: self.ask(*command).startswith(("COMPLETED", "FAILED", "CANCELLED")),
            60,
            f"account of job {number}",
        )
        first, *steps = (line.split("|") for line in self.ask(*command).splitlines())
        job = dict(zip(fields, first, strict=True))
        rows = [dict(zip(fields, step, strict=True)) for step in steps]
        return {
            "minutes asked": int(job["TimelimitRaw"]),
            "minutes": int(job["ElapsedRaw"]) / 60,
            "megabytes asked": float(job["ReqMem"].rstrip("M")),
            # Its steps run at the same time, the outer one of the two Snakemakes in the first.
            "megabytes": sum(float(row["MaxRSS"].rstrip("M") or 0) for row in rows),
            "core seconds": sum(seconds(row["TotalCPU"]) for row in rows),
        }

    def kill(self, name):
        """Stop one daemon by the process id that it wrote."""
        try:
            number = int((self.root / f"{name}.pid").read_text())
            running = Path(f"/proc/{number}/comm").read_text().strip()
        except (OSError, ValueError):
            return
        if running != name:  # the number belongs to someone else by now
            return
        os.kill(number, signal.SIGTERM)
        try:
            wait_until(lambda: ended(number), 10, name)
        except TimeoutError:
            os.kill(number, signal.SIGKILL)

    def launch(self, name, *options):
        """Start a daemon, which goes to the background and writes its process id."""
        self.run(name, *options)
        self.started.append(name)

    def write(self, name, text, mode):
        """A configuration file."""
        path = self.root / name
        path.write_text(text)
        path.chmod(mode)

    def run(self, *command):
        """Run a command that has to succeed."""
        # A file, not a pipe: a daemon would hold the pipe open.
        with open(self.root / "start.log", "a") as log:
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=300
            )
        if code.returncode:
            raise RuntimeError(f"{' '.join(command)}: {(self.root / 'start.log').read_text()}")

    def ask(self, *command):
        """What a command prints."""
        answer = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )
        return answer.stdout.strip()

    def retry(self, *command):
        """Repeat a command until it succeeds."""

        def succeeds():
            return subprocess.run(command, capture_output=True).returncode == 0

        wait_until(succeeds, 300, command[0])
