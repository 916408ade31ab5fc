#!/usr/bin/env python3
# Debian's espeak-ng as an engine for foley (docs/engines.md):
#   foley engine add espeak -- python3 espeak.py
import json, queue, subprocess, sys, threading

RATE = 22050
VOICES = {"en": "en-us", "de": "de", "fr": "fr", "es": "es"}  # names of espeak-ng
hello = {
    "type": "hello", "protocol": 2, "version": "1.0.0", "license": "GPL-3.0-or-later",
    "voices": [{"id": id, "language": id, "sampleRate": RATE} for id in VOICES],
    "controls": ["speed", "pitch"],
}
requests = queue.Queue()
cancelled = set()

def send(message, pcm=b""):
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n" + pcm)
    sys.stdout.buffer.flush()

def speak(id, text, voice, controls):
    if not any(character.isalnum() for character in text):
        return send({"type": "done", "id": id})  # without audio, so the text is unspeakable
    speed = str(round(175 * controls.get("speed", 1)))  # words a minute
    pitch = str(round(min(99, max(0, 50 + 4 * controls.get("pitch", 0)))))
    command = ["espeak-ng", "--stdin", "--stdout", "-v", VOICES[voice], "-s", speed, "-p", pitch, "-a", "110"]
    program = subprocess.run(command, input=text.encode(), capture_output=True)
    if program.returncode != 0:
        return send({"type": "error", "id": id, "message": program.stderr.decode()[:1000]})
    samples = program.stdout[44:]  # without the header of the WAV file
    for at in range(0, len(samples), RATE):
        if id not in cancelled:
            pcm = samples[at : at + RATE]  # half a second
            send({"type": "audio", "id": id, "bytes": len(pcm)}, pcm)
    send({"type": "done", "id": id})

def read():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "cancel": cancelled.add(message["id"])
        else: requests.put(message)
    requests.put(None)  # stdin has ended

threading.Thread(target=read, daemon=True).start()
while (message := requests.get()) is not None:
    if message["type"] == "hello": send(hello)
    elif message["type"] == "speak":
        speak(message["id"], message["text"], message["voice"], message["controls"])
