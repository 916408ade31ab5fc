/** A sentence with a word whose pronunciation depends on its meaning, and the phonemes that are right in this sentence. */
export interface Homograph {
  readonly sentence: string;
  readonly word: string;
  readonly phonemes: string;
}

/** One case a line: the word, its phonemes, the sentence. It is written once and never fitted to the results. */
const CASES = `
read | ɹˈɛd | I read that book last year.
read | ɹˈid | She wants to read the letter.
read | ɹˈɛd | They have read every page.
read | ɹˈid | Can you read this for me?
read | ɹˈɛd | The message was read by thousands of people.
read | ɹˈid | We read the newspaper every morning.
read | ɹˈɛd | He read the note and smiled.
read | ɹˈid | Please read the instructions first.
live | lˈɪv | They live in a small town.
live | lˈIv | The band plays live music on Fridays.
live | lˈIv | The concert was broadcast live from London.
live | lˈɪv | Nobody can live without water.
live | lˈIv | Do not touch the live wire.
lives | lˈɪvz | She lives near the station.
lives | lˈIvz | The doctors saved many lives.
lives | lˈIvz | It changed their lives forever.
lead | lˈid | She will lead the team.
lead | lˈɛd | The old pipes were made of lead.
lead | lˈid | The detective followed every lead.
lead | lˈɛd | Exposure to lead paint is dangerous.
record | ɹˈɛkəɹd | He broke the world record.
record | ɹəkˈɔɹd | We want to record the song today.
record | ɹəkˈɔɹd | Please record your name after the tone.
record | ɹˈɛkəɹd | There is no record of the meeting.
records | ɹˈɛkəɹdz | My father collects old records.
records | ɹəkˈɔɹdz | The camera records everything.
wind | wˈɪnd | A cold wind blew from the north.
wind | wˈInd | Remember to wind the clock.
wind | wˈɪnd | The wind was very strong.
wound | wˈund | The nurse cleaned the wound.
wound | wˈWnd | He wound the rope around the post.
tear | tˈɪɹ | A tear rolled down her cheek.
tear | tˈɛɹ | Try not to tear the paper.
tears | tˈɪɹz | Her eyes were full of tears.
tear | tˈɛɹ | There is a tear in my shirt.
close | klˈOz | Please close the door.
close | klˈOs | The shop is close to the school.
close | klˈOs | They are close friends.
close | klˈOz | The museum will close at six.
close | klˈOs | Stay close behind me.
use | jˈuz | You can use my phone.
use | jˈus | This tool is of no use.
use | jˈus | The use of cameras is forbidden.
use | jˈuz | We use it every day.
used | jˈust | He used to work here.
used | jˈuzd | She used a hammer.
house | hˈWs | The house is empty.
house | hˈWz | The building can house forty people.
present | pɹˈɛzᵊnt | He gave me a present.
present | pɹizˈɛnt | They will present the results tomorrow.
present | pɹˈɛzᵊnt | All members were present.
object | ˈɑbʤəkt | What is that strange object?
object | əbʤˈɛkt | The neighbors object to the plan.
desert | dˈɛzəɹt | Camels live in the desert.
desert | dəzˈɜɹt | He would never desert his friends.
produce | pɹədˈus | Cows produce milk.
produce | pɹˈOdˌus | The market sells fresh produce.
refuse | ɹəfjˈuz | I refuse to answer.
refuse | ɹˈɛfjˌus | The workers collect the refuse on Monday.
content | kˈɑntɛnt | The content of the page is new.
content | kəntˈɛnt | She was content with her work.
minute | mˈɪnət | Wait a minute.
minute | mInˈut | They found minute traces of poison.
project | pɹˈɑʤˌɛkt | The project is almost done.
project | pɹəʤˈɛkt | Analysts project a loss this year.
subject | sˈʌbʤɛkt | Let us change the subject.
subject | səbʤˈɛkt | They did not want to subject him to tests.
permit | pˈɜɹmɪt | You need a permit to fish here.
permit | pəɹmˈɪt | The rules do not permit smoking.
rebel | ɹˈɛbᵊl | The rebel was captured.
rebel | ɹəbˈɛl | The students rebel against the rule.
separate | sˈɛpəɹət | They sleep in separate rooms.
separate | sˈɛpəɹˌAt | Please separate the eggs.
estimate | ˈɛstəmət | The plumber gave us an estimate.
estimate | ˈɛstəmˌAt | Experts estimate the cost at two million.
deliberate | dəlˈɪbəɹət | It was a deliberate mistake.
graduate | ɡɹˈæʤʊˌAt | She will graduate in June.
graduate | ɡɹˈæʤəwət | He is a graduate of this college.
excuse | ɪkskjˈus | That is a poor excuse.
excuse | ɪkskjˈuz | Please excuse my brother.
abuse | əbjˈus | The report describes years of abuse.
increase | ˈɪnkɹˌis | There was an increase in sales.
increase | ɪnkɹˈis | Prices increase every winter.
conduct | kəndˈʌkt | They conduct experiments in the lab.
conduct | kˈɑndˌʌkt | His conduct was excellent.
contract | kˈɑntɹˌækt | Sign the contract here.
contract | kəntɹˈækt | Metals contract when they are cold.
conflict | kˈɑnflˌɪkt | The conflict lasted ten years.
perfect | pəɹfˈɛkt | He spent years trying to perfect his technique.
perfect | pˈɜɹfəkt | It was a perfect day.
progress | pɹˈɑɡɹəs | We are making progress.
bow | bˈO | She tied the ribbon in a bow.
bow | bˈW | The actors bow to the audience.
bass | bˈAs | He plays bass guitar in a band.
bass | bˈæs | We caught a bass in the lake.
dove | dˈOv | She dove into the pool.
dove | dˈʌv | A white dove sat on the roof.
invalid | ɪnvˈælɪd | Your password is invalid.
Polish | pˈOlɪʃ | My Polish neighbor bakes bread.
polish | pˈɑlɪʃ | He used polish on his shoes.
`;

export const HOMOGRAPHS: readonly Homograph[] = CASES.trim()
  .split('\n')
  .map((line) => {
    const [word = '', phonemes = '', sentence = ''] = line.split(' | ');
    return { sentence, word, phonemes };
  });
