"""Uses the official openai client for Python against a service; any failed assertion ends it with 1."""

import base64
import json
import os

from openai import AuthenticationError, BadRequestError, NotFoundError, OpenAI, RateLimitError

MODEL = "vendor-s21pro"
TEXT = "Hello from a client in another language."
VOICE = os.environ["FOLEY_VOICE"]
BASE_URL = os.environ["FOLEY_BASE_URL"] + "/v1"

client = OpenAI(base_url=BASE_URL, api_key=os.environ["FOLEY_API_KEY"], max_retries=0)


def refusal(kind, call):
    """Returns the error of this kind that a call raises."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


def speak(**change):
    order = {"model": MODEL, "voice": VOICE, "input": TEXT, **change}
    return client.audio.speech.create(**order)


plain = speak().read()
assert len(plain) > 1_000
assert speak(response_format="wav").read().startswith(b"RIFF")
assert len(speak(response_format="pcm").read()) % 2 == 0
assert speak(voice={"id": VOICE}).read() == plain

order = {"model": MODEL, "voice": VOICE, "input": TEXT}
with client.audio.speech.with_streaming_response.create(**order) as response:
    assert response.headers["content-type"] == "audio/mpeg"
    assert b"".join(response.iter_bytes()) == plain

with client.audio.speech.with_streaming_response.create(**order, stream_format="sse") as response:
    lines = [line for line in response.iter_lines() if line.startswith("data: ")]
events = [json.loads(line.removeprefix("data: ")) for line in lines]
deltas = [event["audio"] for event in events if event["type"] == "speech.audio.delta"]
assert b"".join(base64.b64decode(delta) for delta in deltas) == plain
assert events[-1]["type"] == "speech.audio.done"
assert events[-1]["usage"]["input_tokens"] == len(TEXT)

models = [model.id for model in client.models.list()]
assert MODEL in models
assert client.models.retrieve(MODEL).id == MODEL

error = refusal(BadRequestError, lambda: speak(speed=4))
assert (error.code, error.param, error.type) == (
    "ERR_INVALID_REQUEST",
    "speed",
    "invalid_request_error",
)
assert error.body["message"] == "speed is 4; allowed: 0.5 to 2", error.body
assert error.request_id
error = refusal(NotFoundError, lambda: client.models.retrieve("tts-1"))
assert "tts-1" in error.body["message"], error.body
stranger = OpenAI(base_url=BASE_URL, api_key="nobody", max_retries=0)
error = refusal(AuthenticationError, stranger.models.list)
assert error.code == "ERR_UNAUTHORIZED" and error.body["message"], error.body
error = refusal(RateLimitError, lambda: [client.models.list() for _ in range(1_000)])
assert error.type == "rate_limit_error" and error.body["message"], error.body
