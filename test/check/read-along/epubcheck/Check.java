import com.adobe.epubcheck.tool.EpubChecker;

/** Checks each book, and writes the messages to a JSON file beside it. */
class Check {
  public static void main(String[] books) {
    for (String book : books) {
      new EpubChecker().run(new String[] {book, "--json", book + ".json", "--usage", "--quiet"});
    }
  }
}
