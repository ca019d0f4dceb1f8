"""Reads the path of a tokenizer, and writes a checksum of the ids of every code point, alone, in words and with an accent.

Blocks without characters are left out. retokenized.test.ts runs it.
"""
import json
import sys
from zlib import crc32

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(json.load(sys.stdin))
blocks = [block for block in range(0, 0x110000, 0x1000) if block < 0x34000 or block == 0xE0000]
found = {}
for block in blocks:
    letters = [chr(point) for point in range(block, block + 0x1000) if not 0xD800 <= point < 0xE000]
    texts = [text for letter in letters for text in (letter, f"a{letter}b {letter}1{letter}", f"e{letter}\u0301")]
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]
    for index, letter in enumerate(letters):
        found[ord(letter)] = crc32(json.dumps(ids[3 * index : 3 * index + 3], separators=(",", ":")).encode())
json.dump(found, sys.stdout)
