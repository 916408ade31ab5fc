"""Uses the client that openapi-generator makes for Python. Prints the number of voices and an error code."""

import os

import openapi_client as api

configuration = api.Configuration(
    host=os.environ["FOLEY_BASE_URL"], access_token=os.environ["FOLEY_API_KEY"]
)
with api.ApiClient(configuration) as client:
    voices = api.VoicesApi(client).list_voices(page_size=100).items
    speech = api.SpeechApi(client)
    request = api.SpeechRequest(text="Hello from Python.", voiceId=voices[0].voice_id)
    with open("speech.mp3", "wb") as file:
        file.write(speech.create_speech(request))
    with open("aligned.txt", "wb") as file:
        file.write(speech.create_aligned_speech(request))
    try:
        speech.create_speech(api.SpeechRequest(text="Hello.", voiceId="nobody"))
    except api.exceptions.NotFoundException as error:
        print(len(voices), error.data.code)
