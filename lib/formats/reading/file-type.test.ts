import { expect, test } from 'vitest'
import { source } from '#testing/trajectories.ts'
import { decodedBeginning, fileTypeOf } from './file-type.ts'
import { openFile, openText } from './open.ts'
import { openEach } from './open-each.ts'

const utf32 = (text: string, isLittle = true) => {
  const bytes = Buffer.from(Uint32Array.from(text, (character) => character.codePointAt(0) ?? 0).buffer)
  return isLittle ? bytes : bytes.swap32()
}
const zip = (entry: string) => Buffer.concat([Buffer.from('PK\u0003\u0004\n\0'), Buffer.alloc(24), Buffer.from(entry)])

const FILES: readonly [file: string, bytes: Uint8Array, name: string, command: string][] = [
  ['a.xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), 'an xz file', '`xz -dk a.xz`'],
  ['a.bz2', Buffer.from('BZh91AY&SY'), 'a bzip2 file', '`bunzip2 -k a.bz2`'],
  ['a.lz4', Buffer.from([4, 0x22, 0x4d, 0x18]), 'an LZ4 file', '`lz4 -d a.lz4`'],
  ['0.pt', zip('archive/data.pkl'), 'a PyTorch file', '`python public/convert_pt.py 0.pt` writes 0.jsonl'],
  ['runs/0.pt', zip('0/.data/serialization_id'), 'a PyTorch file', 'runs/0.jsonl'],
  ['old.ckpt', Buffer.from([0x80, 2, 0x8a]), 'a PyTorch file', 'convert_pt.py old.ckpt'],
  ['a.npz', zip('tokens.npy'), 'NumPy arrays', 'array.tolist()'],
  ['a.npy', Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]), 'NumPy arrays', 'array.tolist()'],
  ['a.pkl', Buffer.from([0x80, 4, 0x95]), 'a Python pickle', 'loading a pickle runs the code in it'],
  ['old.pkl', Buffer.from('(lp0\n(dp1\nVa\n'), 'a Python pickle', 'as JSON lines in Python'],
  ['0.pt', Buffer.from('ccopy_reg\n_reconstructor\np0\n'), 'a Python pickle', 'as JSON lines in Python'],
  ['a', Buffer.from(']q\0}q\x01'), 'a Python pickle', 'as JSON lines in Python'],
  ['.aider.chat.history.md', Buffer.from('\n# aider chat started at 2026-11-30'), 'a chat history of aider', 'session'],
  ['a.msgpack', Buffer.from([0x81, 0xa1, 0x61, 1]), 'a MessagePack file', 'msgpack.Unpacker(open("a.msgpack", "rb"))'],
  ['a.csv', Buffer.from('"prompt","reward"\n"x",1\n'), 'a CSV table', 'read_csv("a.csv").to_json("a.jsonl"'],
  ['a.tsv', Buffer.from('prompt\treward\nx\t1\n'), 'a TSV table', 'read_csv("a.tsv", sep="\\t")'],
  ['a.safetensors', Buffer.from([0x88, 7, 0, 0, 0, 0, 0, 0, 0x7b, 0x22]), 'a safetensors file', 'rollouts'],
  ['a.json', utf32('\uFEFF{}'), 'text in UTF-32', '`iconv -f UTF-32 -t UTF-8 a.json > a.utf8.json`'],
  ['a.json', utf32('\uFEFF{}', false), 'text in UTF-32', 'iconv -f UTF-32 '],
  ['a.json', utf32('{"a": 1}'), 'text in UTF-32', 'iconv -f UTF-32LE '],
  ['a.json', utf32('{"a": 1}', false), 'text in UTF-32', 'iconv -f UTF-32BE '],
]

test.each(FILES)('fileTypeOf refuses %s %# by its type and names a converter', async (file, bytes, name, command) => {
  const refused = {
    ok: false,
    error: {
      message: expect.stringContaining(`expected JSON, found ${name}`),
      hint: expect.stringMatching(/Rollscope opens JSON, JSON lines, tables and archives/),
    },
  }
  const named = { ...source, file }
  const read = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
  expect(fileTypeOf(decodedBeginning(bytes), file)?.hint).toContain(command)
  expect(await Array.fromAsync(openFile(read, named))).toMatchObject([refused])
  expect(openText(new TextDecoder().decode(bytes), named)).toMatchObject(refused)
  const chunks = (async function* () {
    yield bytes
  })()
  expect(await Array.fromAsync(openEach(chunks, named))).toMatchObject([refused])
})

test.each([undefined, '$(rm -rf ~).gz', "a'b.gz", '-k.gz', 'a b.gz'])(
  'fileTypeOf leaves a file name with shell syntax out of its command: %s',
  (file) => {
    expect(fileTypeOf('BZh91AY&SY', file)?.hint).toBe('Unpack it first: `bunzip2 -k FILE`.')
  },
)

test('fileTypeOf names a file of the command line by its path', () => {
  expect(fileTypeOf('BZh91AY&SY', './steps/.a.bz2')?.hint).toContain('`bunzip2 -k ./steps/.a.bz2`')
})

test('A pickle without a name, such as one that is pasted, is no PyTorch file', () => {
  expect(fileTypeOf(decodedBeginning(Buffer.from([0x80, 2, 0x8a])), undefined)?.name).toBe('a Python pickle')
})

test.each([
  ['a.csv', '\uFEFF {"a": 1}'],
  ['a.csv', ''],
  ['a.csv', '\0\0'],
  ['a.msgpack', '{"a": 1}'],
  ['a.json', 'a,b'],
])('fileTypeOf leaves %s with the content %j to the reader of JSON', (file, text) => {
  expect(fileTypeOf(text, file)).toBeUndefined()
})

test.each(['{"a": 1}', '[', '', 'hello', '\uFEFF{}', '"x"'])('fileTypeOf accepts %j as possible JSON', (text) => {
  expect(fileTypeOf(text, 'a.json')).toBeUndefined()
})

test.each([undefined, 'run.pt'])(
  'A zip archive with other entries is no PyTorch file, whatever its name is: %s',
  (file) => {
    expect(fileTypeOf(decodedBeginning(zip('other')), file)).toBeUndefined()
  },
)
