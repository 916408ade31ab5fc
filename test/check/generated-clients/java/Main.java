import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.SpeechApi;
import org.openapitools.client.api.VoicesApi;
import org.openapitools.client.model.SpeechRequest;

/** Uses the client that openapi-generator makes for Java. Prints the number of voices and an error code. */
public class Main {
  private static void save(String name, File content) throws IOException {
    Files.move(content.toPath(), Path.of(name), StandardCopyOption.REPLACE_EXISTING);
  }

  public static void main(String[] arguments) throws Exception {
    String key = System.getenv("FOLEY_API_KEY");
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("FOLEY_BASE_URL"));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
    var voices = new VoicesApi(client).listVoices(1L, 100, false, null).getItems();
    var speech = new SpeechApi(client);
    var request = new SpeechRequest().text("Hello from Java.").voiceId(voices.get(0).getVoiceId());
    save("speech.mp3", speech.createSpeech(request, null, null));
    save("aligned.txt", speech.createAlignedSpeech(request, null, null));
    try {
      speech.createSpeech(new SpeechRequest().text("Hello.").voiceId("nobody"), null, null);
    } catch (ApiException refused) {
      var body = client.getObjectMapper().readTree(refused.getResponseBody());
      System.out.println(voices.size() + " " + body.get("code").asText());
    }
  }
}
