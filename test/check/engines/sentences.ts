/** A few plain sentences in each language that espeak-ng is offered for. */
export const SENTENCES: Readonly<Record<string, string>> = {
  en: 'The weather is good today, and the old bridge over the river is open again. We bought bread, cheese and a bottle of water in the small shop. Did you hear the train leave at seven? Nobody knows why the garden gate was painted blue.',
  de: 'Das Wetter ist heute gut, und die alte Brücke über den Fluss ist wieder offen. Wir haben Brot, Käse und eine Flasche Wasser im kleinen Laden gekauft. Hast du gehört, wie der Zug um sieben abgefahren ist? Niemand weiß, warum das Gartentor blau gestrichen wurde.',
  fr: "Il fait beau aujourd'hui, et le vieux pont sur la rivière est de nouveau ouvert. Nous avons acheté du pain, du fromage et une bouteille d'eau dans le petit magasin. As-tu entendu le train partir à sept heures ? Personne ne sait pourquoi le portail du jardin est peint en bleu.",
  es: 'Hoy hace buen tiempo y el viejo puente sobre el río está abierto otra vez. Hemos comprado pan, queso y una botella de agua en la tienda pequeña. ¿Has oído salir el tren a las siete? Nadie sabe por qué pintaron de azul la puerta del jardín.',
  it: "Oggi il tempo è bello e il vecchio ponte sul fiume è di nuovo aperto. Abbiamo comprato pane, formaggio e una bottiglia d'acqua nel piccolo negozio. Hai sentito partire il treno alle sette? Nessuno sa perché il cancello del giardino è dipinto di blu.",
  pt: 'Hoje o tempo está bom e a velha ponte sobre o rio está aberta outra vez. Comprámos pão, queijo e uma garrafa de água na pequena loja. Ouviste o comboio partir às sete? Ninguém sabe porque é que o portão do jardim foi pintado de azul.',
  nl: 'Het weer is vandaag goed en de oude brug over de rivier is weer open. We hebben brood, kaas en een fles water gekocht in de kleine winkel. Heb je de trein om zeven uur horen vertrekken? Niemand weet waarom het tuinhek blauw is geverfd.',
  sv: 'Vädret är bra i dag och den gamla bron över floden är öppen igen. Vi köpte bröd, ost och en flaska vatten i den lilla affären. Hörde du tåget gå klockan sju? Ingen vet varför grinden till trädgården målades blå.',
  pl: 'Pogoda jest dziś dobra, a stary most na rzece jest znowu otwarty. Kupiliśmy chleb, ser i butelkę wody w małym sklepie. Słyszałeś, jak pociąg odjechał o siódmej? Nikt nie wie, dlaczego furtkę do ogrodu pomalowano na niebiesko.',
  cs: 'Počasí je dnes dobré a starý most přes řeku je zase otevřený. Koupili jsme chleba, sýr a láhev vody v malém obchodě. Slyšel jsi, jak v sedm odjel vlak? Nikdo neví, proč byla zahradní branka natřena na modro.',
  uk: 'Сьогодні гарна погода, і старий міст через річку знову відкритий. Ми купили хліб, сир і пляшку води в маленькій крамниці. Ти чув, як потяг поїхав о сьомій? Ніхто не знає, чому садову хвіртку пофарбували в синій колір.',
  ru: 'Сегодня хорошая погода, и старый мост через реку снова открыт. Мы купили хлеб, сыр и бутылку воды в маленьком магазине. Ты слышал, как поезд ушёл в семь часов? Никто не знает, почему садовую калитку покрасили в синий цвет.',
  tr: 'Bugün hava güzel ve nehrin üzerindeki eski köprü yeniden açık. Küçük dükkândan ekmek, peynir ve bir şişe su aldık. Trenin saat yedide kalktığını duydun mu? Bahçe kapısının neden maviye boyandığını kimse bilmiyor.',
  ar: 'الطقس جميل اليوم والجسر القديم فوق النهر مفتوح من جديد. اشترينا الخبز والجبن وزجاجة ماء من المتجر الصغير. هل سمعت القطار يغادر في الساعة السابعة؟ لا أحد يعرف لماذا طليت بوابة الحديقة باللون الأزرق.',
  hi: 'आज मौसम अच्छा है और नदी का पुराना पुल फिर से खुल गया है। हमने छोटी दुकान से रोटी, पनीर और पानी की एक बोतल खरीदी। क्या तुमने सात बजे ट्रेन के जाने की आवाज़ सुनी? कोई नहीं जानता कि बगीचे का फाटक नीला क्यों रंगा गया।',
  zh: '今天天气很好，河上的老桥又开放了。我们在小商店里买了面包、奶酪和一瓶水。你听见七点的火车开走了吗？没有人知道花园的门为什么漆成了蓝色。',
  ja: 'きょうはてんきがよく、かわにかかるふるいはしがまたひらきました。ちいさなみせでパンとチーズとみずをかいました。しちじにでんしゃがでるのをききましたか。にわのもんがなぜあおくぬられたのか、だれもしりません。',
  ko: '오늘은 날씨가 좋고 강 위의 오래된 다리가 다시 열렸습니다. 우리는 작은 가게에서 빵과 치즈와 물 한 병을 샀습니다. 일곱 시에 기차가 떠나는 소리를 들었습니까? 정원 문을 왜 파란색으로 칠했는지 아무도 모릅니다.',
};

/** The sentences of a language, whatever its region. */
export function sentencesIn(language: string): string {
  const [base = ''] = language.split('-');
  const sentences = SENTENCES[base];
  if (sentences === undefined) throw new Error(`no sentences in ${language}`);
  return sentences;
}
