// Uses the client that ogen makes. Prints the number of voices and an error code.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"speak/speech"
)

type bearer string

func (token bearer) ApiKey(context.Context, speech.OperationName) (speech.ApiKey, error) {
	return speech.ApiKey{Token: string(token)}, nil
}

func main() {
	ctx := context.Background()
	client, err := speech.NewClient(os.Getenv("FOLEY_BASE_URL"), bearer(os.Getenv("FOLEY_API_KEY")))
	check(err)
	listed, err := client.ListVoices(ctx, speech.ListVoicesParams{PageSize: speech.NewOptInt(100)})
	check(err)
	voices := listed.(*speech.VoiceListHeaders).Response.Items
	request := speech.SpeechRequest{Text: "Hello from Go.", VoiceId: voices[0].VoiceId}
	spoken, err := client.CreateSpeech(ctx, &request, speech.CreateSpeechParams{})
	check(err)
	save("speech.mp3", spoken.(*speech.CreateSpeechOKAudioMpegHeaders).Response)
	aligned, err := client.CreateAlignedSpeech(ctx, &request, speech.CreateAlignedSpeechParams{})
	check(err)
	save("aligned.txt", aligned.(*speech.CreateAlignedSpeechOKHeaders).Response)
	unknown := speech.SpeechRequest{Text: "Hello.", VoiceId: "nobody"}
	refused, err := client.CreateSpeech(ctx, &unknown, speech.CreateSpeechParams{})
	check(err)
	fmt.Println(len(voices), refused.(*speech.CreateSpeechNotFound).Code)
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
