//! Uses the client that openapi-generator makes for Rust. Prints the number of voices and an error code.
use openapi::apis::{configuration::Configuration, speech_api, voices_api, Error};
use openapi::models::SpeechRequest;
use std::{env, error, fs};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn error::Error>> {
    let mut configuration = Configuration::new();
    configuration.base_path = env::var("FOLEY_BASE_URL")?;
    configuration.bearer_access_token = Some(env::var("FOLEY_API_KEY")?);
    let voices = voices_api::list_voices(&configuration, None, Some(100), None, None).await?.items;
    let request = SpeechRequest::new("Hello from Rust.".into(), voices[0].voice_id.clone());
    let audio = speech_api::create_speech(&configuration, request.clone(), None, None).await?;
    fs::write("speech.mp3", audio.bytes().await?)?;
    let events = speech_api::create_aligned_speech(&configuration, request, None, None).await?;
    fs::write("aligned.txt", events.bytes().await?)?;
    let unknown = SpeechRequest::new("Hello.".into(), "nobody".into());
    match speech_api::create_speech(&configuration, unknown, None, None).await {
        Err(Error::ResponseError(refused)) => {
            let body: serde_json::Value = serde_json::from_str(&refused.content)?;
            println!("{} {}", voices.len(), body["code"].as_str().unwrap_or_default());
            Ok(())
        }
        other => Err(format!("{other:?}").into()),
    }
}
