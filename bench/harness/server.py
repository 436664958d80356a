"""What the rounds ask of a server or a mount, and what most of them answer."""


class Server:
    name = ""
    durability = ""
    lacks = ()        # loads that it cannot run
    generator = None  # the program that runs every load against it, where it is not that of the suite

    def start(self):
        """Raises process.ServerFailed."""
        raise NotImplementedError

    def stop(self):
        raise NotImplementedError

    def pids(self):
        """The processes whose CPU and memory are the server's cost."""
        raise NotImplementedError

    def client_pids(self):
        """Those among them that run on the client, such as that of a mount."""
        return []

    def get_ready(self, load, short):
        """Before a load. Raises process.ServerFailed."""

    def make_cold(self):
        """Forgets what the client keeps. Raises process.ServerFailed."""

    def counters(self):
        """{name: number} of what the client counts; a run is told how much they grew."""
        return {}
