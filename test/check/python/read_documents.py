"""Prints the text of documents, as other libraries read it, as a JSON object by path."""

import json
import sys

import ebooklib
from bs4 import BeautifulSoup
from ebooklib import epub
from markdown_it import MarkdownIt


def body_text(document, parser):
    soup = BeautifulSoup(document, parser)
    return (soup.find("body") or soup.find("h:body") or soup).get_text(" ")


def book_text(path):
    book = epub.read_epub(path)
    items = [book.get_item_with_id(name) for name, _ in book.spine]
    chapters = [item for item in items if item.get_type() == ebooklib.ITEM_DOCUMENT]
    return " ".join(body_text(chapter.get_content(), "lxml") for chapter in chapters)


def read(path):
    if path.endswith(".epub"):
        return book_text(path)
    with open(path, "rb") as file:
        document = file.read()
    if path.endswith(".md"):
        html = MarkdownIt("commonmark").enable("table").render(document.decode())
        return body_text(html, "html.parser")
    return body_text(document, "lxml-xml" if path.endswith(".xhtml") else "lxml")


print(json.dumps({path: read(path) for path in sys.argv[1:]}))
