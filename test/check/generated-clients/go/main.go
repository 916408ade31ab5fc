// Uses the client that openapi-generator makes for Go. Prints the number of voices and an error code.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"speak/speech"
)

func main() {
	configuration := speech.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("FOLEY_BASE_URL")
	client := speech.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), speech.ContextAccessToken, os.Getenv("FOLEY_API_KEY"))
	voices, _, err := client.VoicesAPI.ListVoices(ctx).PageSize(100).Execute()
	check(err)
	request := speech.NewSpeechRequest("Hello from Go.", voices.Items[0].VoiceId)
	audio, _, err := client.SpeechAPI.CreateSpeech(ctx).SpeechRequest(*request).Execute()
	check(err)
	save("speech.mp3", audio)
	events, _, err := client.SpeechAPI.CreateAlignedSpeech(ctx).SpeechRequest(*request).Execute()
	check(err)
	save("aligned.txt", events)
	unknown := speech.NewSpeechRequest("Hello.", "nobody")
	_, _, err = client.SpeechAPI.CreateSpeech(ctx).SpeechRequest(*unknown).Execute()
	var refused *speech.GenericOpenAPIError
	if !errors.As(err, &refused) {
		log.Fatal(err)
	}
	fmt.Println(len(voices.Items), refused.Model().(speech.Error).Code)
}

func save(name string, content io.Reader) {
	bytes, err := io.ReadAll(content)
	check(err)
	check(os.WriteFile(name, bytes, 0o600))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
