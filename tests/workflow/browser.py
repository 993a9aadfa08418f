"""A headless browser without a network, spoken to by the DevTools protocol."""

import asyncio
import contextlib
import json
import shutil
import subprocess
import urllib.request

from tornado.websocket import websocket_connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)


def visit(page, script, profile):
    """Open a page and evaluate a script in it.

    Parameters
    ----------
    page : str
        Its address.
    script : str
        An expression whose value is a promise.
    profile : pathlib.Path
        Folder for the browser's files.

    Returns
    -------
    value : object
        What the promise gave.
    events : list of dict
        What the browser said meanwhile: messages, exceptions and requests.
    """
    with _running(profile) as address:
        with urllib.request.urlopen(f"{address}/json/list") as answer:
            targets = json.load(answer)
        tab = next(target for target in targets if target["type"] == "page")
        work = _talk(tab["webSocketDebuggerUrl"], page, script)
        return asyncio.run(asyncio.wait_for(work, timeout=120))


@contextlib.contextmanager
def _running(profile):
    """Start the browser; give the address at which it listens."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "about:blank"]
    command += [f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        said = next(line for line in process.stderr if line.startswith("DevTools listening on"))
        yield "http://" + said.split("//")[1].split("/")[0]
    finally:
        process.terminate()
        process.communicate(timeout=30)


async def _talk(address, page, script):
    socket = await websocket_connect(address, max_message_size=2**28)
    events = []

    async def ask(method, **parameters):
        await socket.write_message(json.dumps({"id": 1, "method": method, "params": parameters}))
        while "id" not in (message := json.loads(await socket.read_message())):
            events.append(message)
        return message["result"]

    for domain in ("Runtime", "Log", "Network", "Page"):
        await ask(f"{domain}.enable")
    await ask("Page.navigate", url=page)
    while not any(event["method"] == "Page.loadEventFired" for event in events):
        events.append(json.loads(await socket.read_message()))
    answer = await ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    socket.close()
    assert "exceptionDetails" not in answer, answer
    return answer["result"]["value"], events


def errors(events):
    """What went wrong on the page, as its console has it."""
    for event in events:
        content = event["params"]
        if event["method"] == "Runtime.consoleAPICalled" and content["type"] == "error":
            yield " ".join(str(part.get("value", part)) for part in content["args"])
        elif event["method"] == "Runtime.exceptionThrown":
            yield str(content["exceptionDetails"])
        elif event["method"] == "Log.entryAdded" and content["entry"]["level"] == "error":
            yield content["entry"]["text"]


def requests(events):
    """Addresses that were asked for, without what stands in the page itself."""
    for event in events:
        if event["method"] == "Network.requestWillBeSent":
            address = event["params"]["request"]["url"]
            if not address.startswith(("data:", "blob:", "about:")):
                yield address
