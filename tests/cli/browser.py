# SPDX-License-Identifier: BSD-2-Clause
"""Chromium without a window, over the DevTools protocol on two pipes.

	with Browser() as browser:
		page = browser.open("file:///tmp/page.html")
		page.run("document.title")
		page.errors		what the console complained of, and exceptions
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium")
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-dev-shm-usage",
	"--hide-scrollbars", "--remote-debugging-pipe"]
LIMIT_S = 60


class Browser:
	def __enter__(self):
		self.profile = tempfile.mkdtemp(prefix="chromium-")
		to_browser, self.requests = os.pipe()
		self.answers, from_browser = os.pipe()
		self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "chromium", CHROMIUM, *OPTIONS, f"--user-data-dir={self.profile}", "about:blank"],
			pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
		os.close(to_browser)
		os.close(from_browser)
		self.number, self.rest, self.pages = 0, b"", {}
		return self

	def __exit__(self, *_):
		self.process.kill()
		self.process.wait()
		shutil.rmtree(self.profile, ignore_errors=True)

	def read(self):
		while b"\0" not in self.rest:
			more = os.read(self.answers, 1 << 20)
			if not more:
				raise RuntimeError("the browser has ended")
			self.rest += more
		line, self.rest = self.rest.split(b"\0", 1)
		message = json.loads(line)
		page = self.pages.get(message.get("sessionId"))
		if page and "method" in message:
			page.hear(message["method"], message["params"])
		return message

	def ask(self, method, session=None, **params):
		self.number += 1
		number = self.number
		message = {"id": number, "method": method, "params": params}
		if session:
			message["sessionId"] = session
		data = json.dumps(message).encode() + b"\0"
		while data:
			data = data[os.write(self.requests, data):]
		while True:
			answer = self.read()
			if answer.get("id") == number:
				if "error" in answer:
					raise RuntimeError(f"{method}: {answer['error']}")
				return answer["result"]

	def open(self, url, width=1280, height=800, dark=False, ready="document.documentElement?.dataset.ready || document.getElementById('warning')?.textContent"):
		target = self.ask("Target.createTarget", url="about:blank")["targetId"]
		session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
		page = self.pages[session] = Page(self, session)
		for domain in "Page", "Runtime", "Log":
			page.ask(f"{domain}.enable")
		page.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
		page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
		page.ask("Page.navigate", url=url)
		page.wait(ready)
		return page


	def frames(self, page, ready):
		"""The documents in its iframes, in their order, as pages of their own: those that may not touch it have their own targets."""
		targets = self.ask("Target.getTargets", filter=[{"type": "iframe"}])["targetInfos"]
		owner = page.ask("Target.getTargetInfo")["targetInfo"]["targetId"]
		frames = []
		for target in targets:
			if target.get("parentId") != owner:
				continue
			session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
			frame = self.pages[session] = Page(self, session)
			for domain in "Runtime", "Log":
				frame.ask(f"{domain}.enable")
			frame.wait(ready)
			frames.append(frame)
		return frames


class Page:
	def __init__(self, browser, session):
		self.browser, self.session, self.errors = browser, session, []

	def hear(self, method, params):
		if method == "Runtime.exceptionThrown":
			self.errors.append(params["exceptionDetails"].get("exception", {}).get("description", params["exceptionDetails"]["text"]))
		elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
			self.errors.append(params["entry"]["text"])
		elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
			self.errors.append(str(params["args"]))

	def ask(self, method, **params):
		return self.browser.ask(method, self.session, **params)

	def run(self, script):
		result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
		if "exceptionDetails" in result:
			raise RuntimeError(f"{script}: {result['exceptionDetails'].get('exception', {}).get('description')}")
		return result["result"].get("value")

	def wait(self, script):
		end = time.monotonic() + LIMIT_S
		while not self.run(script):
			if time.monotonic() > end or self.errors:
				raise RuntimeError(f"after at most {LIMIT_S} s this is not so: {script}; {self.errors}")
			time.sleep(0.02)

	def frame(self):
		"""Until what was asked for is drawn."""
		self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

	def key(self, key):
		code = {"Escape": 27, "Enter": 13, "ArrowRight": 39, "ArrowLeft": 37}.get(key, 0)
		text = {} if len(key) > 1 else {"text": key}
		self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
		self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
		self.frame()

	def type(self, text):
		self.ask("Input.insertText", text=text)
		self.frame()

	def mouse(self, kind, x, y, **more):
		self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

	def click(self, x, y):
		for kind in "mousePressed", "mouseReleased":
			self.mouse(kind, x, y, button="left", buttons=1, clickCount=1)
		self.frame()

	def picture(self, path, whole=True):
		result = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
		with open(path, "wb") as out:
			out.write(base64.b64decode(result["data"]))
