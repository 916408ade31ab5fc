"""Uses the client that openapi-python-client makes. Prints the number of voices and an error code."""

import os

from client.api.speech import create_aligned_speech, create_speech
from client.api.voices import list_voices
from client.client import AuthenticatedClient
from client.models import SpeechRequest

with AuthenticatedClient(os.environ["FOLEY_BASE_URL"], os.environ["FOLEY_API_KEY"]) as client:
    voices = list_voices.sync(client=client, page_size=100).items
    request = SpeechRequest(text="Hello from Python.", voice_id=voices[0].voice_id)
    with open("speech.mp3", "wb") as file:
        file.write(create_speech.sync(client=client, body=request).payload.read())
    with open("aligned.txt", "wb") as file:
        file.write(create_aligned_speech.sync(client=client, body=request).payload.read())
    unknown = SpeechRequest(text="Hello.", voice_id="nobody")
    print(len(voices), create_speech.sync(client=client, body=unknown).code)
