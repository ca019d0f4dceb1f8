/** Tests malicious archives and columnar files: none is opened, whatever it contains. */
import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { source } from '#testing/trajectories.ts'
import { BEGINNING } from './file-type.ts'
import { openFile } from './open.ts'

const ZEROS = Buffer.alloc(32 << 20)

/** Builds a zip archive of one file, as far as a reader of its first entry looks. */
function zipOf(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(8, 8)
  header.writeUInt32LE(packed.length, 18)
  header.writeUInt32LE(content.length, 22)
  header.writeUInt16LE(Buffer.byteLength(name), 26)
  return Buffer.concat([header, Buffer.from(name), packed])
}

/** Builds a file with a footer length and a magic number at the end, which readers check first. */
function parquet(footerLength: number, end: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footerLength)
  return Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(1000), length, Buffer.from(end)])
}

test.each<[string, string, Buffer, string]>([
  ['a gzip bomb', 'a.jsonl.gz', gzipSync(ZEROS), 'a gzip file'],
  ['a gzip bomb in a gzip file', 'a.gz', gzipSync(gzipSync(ZEROS)), 'a gzip file'],
  ['a gzip file that says it is JSON', 'a.json', gzipSync('{"token_ids": [1]}'), 'a gzip file'],
  ['a Zstandard bomb', 'a.jsonl.zst', zstdCompressSync(ZEROS), 'a Zstandard file'],
  ['a zip bomb', 'a.zip', zipOf('a.jsonl', ZEROS), 'a zip archive'],
  ['a zip archive with dots in a name', 'a.zip', zipOf('../../../etc/cron.d/x', Buffer.from('x')), 'a zip archive'],
  ['a zip archive with an absolute name', 'a.eval', zipOf('/etc/passwd', Buffer.from('x')), 'a zip archive'],
  ['a PyTorch file with dots in a name', 'a.pt', zipOf('../../data.pkl', Buffer.from('x')), 'a PyTorch file'],
  ['Parquet with a footer longer than the file', 'a.parquet', parquet(0xffff_ffff, 'PAR1'), 'a Parquet file'],
  ['Parquet without a footer', 'a.parquet', parquet(0, 'PAR1'), 'a Parquet file'],
  ['Parquet that is cut', 'a.parquet', parquet(100, ''), 'a Parquet file'],
  ['Parquet with another end', 'a.parquet', parquet(100, 'RAP1'), 'a Parquet file'],
  ['Parquet with an encrypted footer', 'a.parquet', Buffer.from('PARE\u0015\u0000PARE'), 'a Parquet file'],
  ['Parquet under the name of JSON', 'a.json', parquet(100, 'PAR1'), 'a Parquet file'],
])('%s is refused by its first bytes, and no more is read', async (_what, file, bytes, name) => {
  const read: [number, number][] = []
  const counted = {
    size: bytes.length,
    read: async (start: number, end: number) => {
      read.push([start, end])
      return bytes.subarray(start, end)
    },
  }
  expect(await Array.fromAsync(openFile(counted, { ...source, file }))).toMatchObject([
    { ok: false, error: { message: expect.stringContaining(`expected JSON, found ${name}`) } },
  ])
  expect(read).toEqual([[0, Math.min(BEGINNING, bytes.length)]])
})

test('openFile refuses Brotli data, which has no magic number, as invalid text', async () => {
  const bytes = brotliCompressSync(Buffer.from('{"token_ids": [1]}'.repeat(1000)))
  const file = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
  const opened = await Array.fromAsync(openFile(file, { ...source, file: 'a.jsonl.br' }))
  expect(opened).toMatchObject([{ ok: false, error: { message: expect.stringMatching(/^expected JSON, found /) } }])
})
