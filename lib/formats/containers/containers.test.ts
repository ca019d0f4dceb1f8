/** Tests containers with files that the real tools wrote, and with forged ones. */
import { readFileSync } from 'node:fs'
import { constants, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { tarOf, zipOf } from '#testing/files/archives.ts'
import { source } from '#testing/trajectories.ts'
import { openFile } from '../reading/open.ts'
import { openEachIn } from '../reading/open-each.ts'
import { partsOf } from '../reading/parts.ts'
import { type ByteSource, CHUNK, memoryTools, type UnpackTools } from './container.ts'
import { dataLines } from './events.ts'
import { jsonRow } from './json-value.ts'

const folder = 'lib/formats/golden'
const golden = JSON.parse(readFileSync(`${folder}/containers.json`, 'utf8')) as {
  readonly rows: readonly object[]
  readonly files: Readonly<Record<string, string>>
  readonly tooLarge: string
  readonly more: readonly object[]
  readonly streams: Readonly<Record<'more' | 'deep' | 'union', string>>
}
const tables = Object.entries(golden.files).map(([name, text]) => [name, Buffer.from(text, 'base64')] as const)
const foreign = (name: string) => readFileSync(`${folder}/foreign/${name}`)

const sourceOf = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
})

const line = (...token_ids: number[]) => `${JSON.stringify({ token_ids })}\n`
const LINES = line(1) + line(2, 3)

/** Returns the file and the ids of each trajectory, and the problems. */
async function opened(bytes: Uint8Array, file = 'run', limits: Partial<Limits> = {}): Promise<readonly string[]> {
  const options = { limits: { ...LIMITS, ...limits }, tools: memoryTools }
  const each = await Array.fromAsync(openFile(sourceOf(bytes), { ...source, file }, options))
  return each.map((one) => {
    if (!one.ok) return `${one.scope}: ${one.error.message}`
    const { provenance } = one.trajectory
    return `${provenance.kind === 'import' ? provenance.file : ''} ${ids(one.trajectory).join()}`
  })
}

/** Returns the rows of a table, or the problem. */
async function rowsOf(bytes: Uint8Array): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for await (const part of partsOf(sourceOf(bytes), 'table', { limits: LIMITS, tools: memoryTools }))
    if (part.kind === 'rows') for await (const row of part.rows) found.push(row.ok ? row.value : row.error)
    else if (part.kind === 'failed') found.push(part.problem.message)
  return found
}

describe('A container opens by its content, whatever its name is:', () => {
  test.each<[string, Uint8Array, readonly string[]]>([
    ['gzip', gzipSync(LINES), ['run 1', 'run 2,3']],
    ['gzip with two members', Buffer.concat([gzipSync(line(1)), gzipSync(line(2, 3))]), ['run 1', 'run 2,3']],
    ['Zstandard', zstdCompressSync(LINES), ['run 1', 'run 2,3']],
    [
      'Zstandard with two frames',
      Buffer.concat([zstdCompressSync(line(1)), zstdCompressSync(line(2, 3))]),
      ['run 1', 'run 2,3'],
    ],
    ['gzip in gzip', gzipSync(gzipSync(LINES)), ['run 1', 'run 2,3']],
    [
      'zip with three methods',
      zipOf([
        { name: 'a.jsonl', content: LINES },
        { name: 'b/', content: '' },
        { name: 'b/c', content: line(4), method: 'stored' },
        { name: 'd', content: line(5), method: 'zstd' },
      ]),
      ['run/a.jsonl 1', 'run/a.jsonl 2,3', 'run/b/c 4', 'run/d 5'],
    ],
    [
      'zip with fields for more than 4 GiB',
      zipOf(
        [
          { name: 'a.jsonl', content: LINES },
          { name: 'b', content: line(4), method: 'stored' },
        ],
        true,
      ),
      ['run/a.jsonl 1', 'run/a.jsonl 2,3', 'run/b 4'],
    ],
    [
      'gzip in zip',
      zipOf([{ name: 'a.jsonl.gz', content: gzipSync(LINES) }]),
      ['run/a.jsonl.gz 1', 'run/a.jsonl.gz 2,3'],
    ],
    [
      'tar with a long name and a link',
      tarOf([
        { name: 'a.jsonl', content: LINES },
        { name: 'link', content: '', type: '2' },
        { name: `${'x'.repeat(120)}.json`, content: line(4) },
      ]),
      ['run/a.jsonl 1', 'run/a.jsonl 2,3', `run/${'x'.repeat(120)}.json 4`],
    ],
    [
      'tar with a folder in its own field and a name of pax',
      tarOf([
        { name: 'a.jsonl', content: line(1), prefix: 'runs' },
        { name: 'PaxHeader', content: '21 path=deep/b.json\n', type: 'x' },
        { name: 'b.json', content: line(2) },
      ]),
      ['run/runs/a.jsonl 1', 'run/deep/b.json 2'],
    ],
    ['tar in gzip', gzipSync(tarOf([{ name: 'a', content: LINES }])), ['run/a 1', 'run/a 2,3']],
    [
      'server-sent events with comments, names and an end',
      Buffer.from(`: hello\nevent: message\ndata: ${line(1)}\ndata:${line(2, 3)}id: 7\n\ndata: [DONE]\n\n`),
      ['run 1', 'run 2,3'],
    ],
    [
      'zip with dots and slashes in names, which are only text',
      zipOf([
        { name: '../../etc/cron.d/x', content: line(1) },
        { name: '/etc/passwd', content: line(2) },
      ]),
      ['run/../../etc/cron.d/x 1', 'run//etc/passwd 2'],
    ],
  ])('%s', async (_, bytes, expected) => {
    expect(await opened(bytes)).toEqual(expected)
    const each = await Array.fromAsync(openEachIn(sourceOf(bytes), { ...source, file: 'run' }, { tools: memoryTools }))
    expect(each.map((one) => one.ok && ids(one.trajectory).join())).toEqual(
      expected.map((text) => text.replace(/^.* /, '')),
    )
  })
})

test.each<[string, Uint8Array, number]>([
  ['lines of JSON', Buffer.from(LINES), 2],
  ['a list', Buffer.from(`[${line(1)},${line(2)},${line(3)}]`), 3],
  ['one value over several lines', Buffer.from('{"token_ids":\n[1]}'), 1],
  ['lines of which the first is broken', Buffer.from(`{"token_ids": [\n${line(1)}`), 2],
  ['a table', foreign('hf-tokens.parquet'), 4],
  ['gzip of lines', gzipSync(LINES), 0],
  ['an archive', zipOf([{ name: 'a', content: LINES }]), 0],
])('openFile reports how many records were found in %s; a container counts as none', async (_, bytes, expected) => {
  const counts: number[] = []
  await Array.fromAsync(openFile(sourceOf(bytes), source, { onRecords: (count) => counts.push(count) }))
  expect(Math.max(0, ...counts)).toBe(expected)
})

test('A backslash in a name of a zip archive separates folders, unless Unix wrote the archive', async () => {
  const archive = (system: number) => {
    const bytes = zipOf([{ name: 'a\\b.json', content: '{' }])
    bytes[bytes.indexOf('PK\u0001\u0002') + 5] = system
    return bytes
  }
  const messageOf = async (bytes: Uint8Array) => {
    const file = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
    const [first] = await Array.fromAsync(openFile(file, source))
    return first?.ok === false && first.error.entry
  }
  expect(await messageOf(archive(0))).toBe('a/b.json')
  expect(await messageOf(archive(3))).toBe('a\\b.json')
})

test('openFile ends with what the reporting of records throws', async () => {
  const onRecords = () => {
    throw new Error('enough')
  }
  await expect(Array.fromAsync(openFile(sourceOf(Buffer.from(LINES)), source, { onRecords }))).rejects.toThrow('enough')
})

test.each([
  ['and begin with another field', 'event: a\n\n', ''],
  ['and begin with data', '', ''],
  ['and begin with a byte order mark', '', '\uFEFF'],
])('Server-sent events keep their line numbers, for any division into pieces, %s', async (_, first, mark) => {
  const fields = `${first}data: ${line(1)}\nretry: 5\n: ${'x'.repeat(50)}\ndata: {"token_ids": ["x"]}\ndata: [DONE]\n`
  const text = Buffer.from(`${mark}${fields}`)
  const blanked = fields
    .replace(/data: (?!\[)/g, ' '.repeat(6))
    .replace(/^(event|retry|:|data).*/gm, (field) => ' '.repeat(field.length))
  const expected = `${' '.repeat(Buffer.byteLength(mark))}${blanked}`
  for (const length of [1, 3, 31, 32, 33, 64, 1000]) {
    const pieces = async function* () {
      for (let at = 0; at < text.length; at += length) yield text.subarray(at, at + length)
    }
    const kept = await memoryTools.keep(dataLines(pieces()))
    expect(new TextDecoder().decode(await kept.read(0, kept.size))).toBe(expected)
  }
  const broken = 5 + first.split('\n').length - 1
  expect(await opened(text)).toEqual(['run 1', `record: line ${broken}: token_ids[0]: expected a number, found "x"`])
})

describe('A table has the rows that pyarrow reads:', () => {
  test.each(tables.filter(([name]) => !/^(lz4|brotli)\./.test(name)))('%s', async (_, bytes) => {
    expect(await rowsOf(bytes)).toEqual(golden.rows)
  })
})

test.each(tables.filter(([name]) => /^(lz4|brotli)\./.test(name)))(
  '%s, which has another compression, is refused with a command',
  async (_, bytes) => {
    expect(await opened(bytes)).toEqual([
      expect.stringMatching(
        /^file: expected an? (Arrow|Parquet) file without (LZ4|Brotli), found one with (LZ4|Brotli)$/,
      ),
    ])
  },
)

test('The advice for an Arrow table with LZ4 converts a file and a stream', async () => {
  const all = tables.filter(([name]) => /^lz4\..*arrow/.test(name))
  expect(all.length).toBeGreaterThan(0)
  for (const [, bytes] of all)
    for await (const one of openFile(sourceOf(bytes), source))
      expect(one.ok ? '' : one.error.hint).toMatch(/open_stream.+open_file.+compression="zstd"/)
})

test('A table of Arrow with maps, lists of a fixed length, views and an empty batch has the rows that pyarrow reads', async () => {
  expect(await rowsOf(Buffer.from(golden.streams.more, 'base64'))).toEqual(golden.more)
})

describe('An Arrow file whose schema has no marker and no length, as Polars writes it,', () => {
  const file = Buffer.from(golden.files['plain.arrow'] ?? '', 'base64')
  const first = 16 + file.readInt32LE(12)
  const bare = Buffer.concat([file.subarray(0, 8), file.subarray(16, first), Buffer.alloc(8), file.subarray(first)])
  const footer = bare.subarray(bare.length - 10 - bare.readInt32LE(bare.length - 10))
  const withFooter = (length: number) => {
    const copy = Buffer.from(bare)
    copy.writeInt32LE(length, copy.length - 10)
    return copy
  }
  /** Moves the first message that the footer names. */
  const withFirst = (at: number) => replaced(bare, [first], [at], bare.length - footer.length)
  const message = bare.subarray(first + 8, first + 8 + bare.readInt32LE(first + 4))

  test('has the rows that pyarrow reads', async () => {
    expect(await rowsOf(bare)).toEqual(golden.rows)
  })

  test.each([
    ['an empty footer', withFooter(0), 'unreadable bytes in the footer'],
    ['a footer before its beginning', withFooter(bare.length), 'no message (byte 9)'],
    ['a footer after its end', withFooter(-1), 'no message (byte 9)'],
    ['a batch in place of the schema', Buffer.concat([bare.subarray(0, 8), message, footer]), 'no message (byte 9)'],
    ['a batch before its beginning', withFirst(0), 'a message beyond its end'],
    ['a batch after its end', withFirst(bare.length), 'a message beyond its end'],
    ['an end in place of a batch', withFirst(bare.length - footer.length - 8), 'a message beyond its end'],
  ])('is refused if it has %s', async (_, bytes, found) => {
    expect(await opened(bytes)).toEqual([`file: expected a whole Arrow file, found ${found}`])
  })
})

test('A value that JSON cannot represent fails with its path, and null takes its place', () => {
  expect(jsonRow({ a: 1, b: new Date(Number.NaN) })).toEqual({
    ok: false,
    error: { path: 'b', expected: 'a date', found: 'one beyond the calendar' },
  })
  expect(jsonRow({ a: [{ b: 2n ** 60n }] })).toMatchObject({ ok: false, error: { path: 'a[0].b' } })
  expect(jsonRow({ a: new Map([[1n, new Date(0)]]), b: undefined, c: null })).toEqual({
    ok: true,
    value: { a: { '1': '1970-01-01T00:00:00.000Z' }, b: null, c: null },
  })
})

test('A row with an id that JavaScript cannot represent fails with its path, and the others open', async () => {
  expect(await opened(Buffer.from(golden.tooLarge, 'base64'), 'run.parquet')).toEqual([
    'run.parquet 1',
    'record: row 2: token_ids[0]: expected a whole number of at most 2^53, found 1152921504606846976',
  ])
})

describe('A file of a real tool', () => {
  test('of miles, a Parquet file of columns, has rows with whole numbers as ids', async () => {
    const rows = await rowsOf(foreign('miles-dashboard.parquet'))
    expect(rows).toHaveLength(4)
    expect(rows[0]).toMatchObject({ sample_index: 0, response_length: 10, loss_mask: null })
    expect(rows[0]).toHaveProperty('tokens', [5, 33, 65, 62, 51, 38, 61, 45, 74, 27, 64, 17, 36, 17, 96, 12])
  })

  test('of Polars, an Arrow file with Zstandard whose dictionary follows its batch, has the rows that were written', async () => {
    expect(await rowsOf(foreign('polars.arrow'))).toEqual([
      {
        input_ids: [1, 2],
        labels: [-100, 2],
        kind: 'a',
        messages: [{ role: 'user', content: 'a text that is longer than twelve bytes' }],
      },
      { input_ids: [3], labels: [3], kind: 'b', messages: [] },
    ])
  })

  test('of datasets, a Parquet file with messages and tokens, has lists of objects', async () => {
    const rows = (await rowsOf(foreign('hf-tokens.parquet'))) as readonly { readonly messages: readonly object[] }[]
    expect(rows).toHaveLength(4)
    expect(rows[0]?.messages[0]).toMatchObject({ role: 'user', content: 'What is 25 * 17?' })
  })

  test('of Inspect, an .eval archive with Zstandard, has one JSON file for each sample', async () => {
    const names: string[] = []
    for await (const part of partsOf(sourceOf(foreign('inspect-mockllm.eval')), 'a.eval', {
      limits: LIMITS,
      tools: memoryTools,
    })) {
      if (part.kind !== 'json') throw new Error('an entry is not JSON')
      JSON.parse(new TextDecoder().decode(await part.bytes.read(0, part.bytes.size)))
      names.push(part.entry ?? '')
    }
    expect(names.filter((name) => name.startsWith('samples/'))).toEqual([
      'samples/a_epoch_1.json',
      'samples/b_epoch_1.json',
    ])
    expect(names).toContain('header.json')
  })

  test('of llama.cpp, a streamed reply, has one JSON line for each event', async () => {
    for await (const part of partsOf(sourceOf(foreign('llama-cpp-completion.sse')), 'a.sse', {
      limits: LIMITS,
      tools: memoryTools,
    })) {
      if (part.kind !== 'json') throw new Error('the stream is not JSON')
      const text = new TextDecoder().decode(await part.bytes.read(0, part.bytes.size))
      const events = text
        .split('\n')
        .filter((one) => one.trim() !== '')
        .map((one) => JSON.parse(one))
      expect(events.length).toBeGreaterThan(2)
      expect(events.map(({ index }) => index).every((index) => index === 0)).toBe(true)
    }
  })

  test('of tinker-cookbook, an SQLite database, is refused where there is no SQLite', async () => {
    expect(await opened(foreign('tinker-capture.sqlite'))).toEqual([
      'file: expected a file that this page can read, found an SQLite database',
    ])
  })
})

test('A row of SQLite with a text that JavaScript cannot represent fails with its table and number', async () => {
  const tools: UnpackTools = {
    ...memoryTools,
    sqlite: async () => ({
      tables: [{ name: 't', rows: () => [undefined, { tokens: '[1]', response_length: 1 }, undefined] }],
      close: async () => {},
    }),
  }
  const bytes = foreign('tinker-capture.sqlite')
  const each = await Array.fromAsync(openFile(sourceOf(bytes), source, { tools }))
  expect(each.map((one) => (one.ok ? '' : one.error.message))).toContain(
    't: row 1: expected texts of at most 512 MiB, found a longer one',
  )
})

test('A stream may have more events than a file has trajectories, and a file with more trajectories is refused', async () => {
  const limits = { ...LIMITS, records: 3 }
  const readWith = async (text: string, one: Partial<typeof LIMITS> = {}) =>
    Array.fromAsync(openFile(sourceOf(Buffer.from(text)), source, { limits: { ...limits, ...one } }))
  const chunk = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`
  const stream = 'abcde'.split('').map(chunk).join('')
  const [read, ...others] = await readWith(stream)
  expect(others).toEqual([])
  expect(read).toMatchObject({ ok: true, trajectory: { segments: [{ message: { content: 'abcde' } }] } })
  const refusal = { ok: false, scope: 'file', error: { found: 'more' } }
  expect(await readWith(stream, { entries: 4 })).toMatchObject([refusal])
  const rollouts = Array.from({ length: 4 }, (_, index) => `data: ${line(index)}\n\n`).join('')
  expect((await readWith(rollouts)).at(-1)).toMatchObject(refusal)
})

const utf16 = (text: string, isBig = false) => {
  const bytes = Buffer.from(text, 'utf16le')
  return isBig ? bytes.swap16() : bytes
}

describe('Text in UTF-16 opens', () => {
  test.each([
    ['little-endian with a mark', utf16(`\uFEFF${LINES}`)],
    ['big-endian with a mark', utf16(`\uFEFF${LINES}`, true)],
    ['little-endian', utf16(LINES)],
    ['big-endian', utf16(LINES, true)],
    ['compressed by gzip', gzipSync(utf16(`\uFEFF${LINES}`))],
  ])('%s', async (_, bytes) => {
    expect(await opened(bytes)).toEqual(['run 1', 'run 2,3'])
  })

  test('across pieces of the file, and refuses half of a pair', async () => {
    const text = JSON.stringify({ messages: [{ role: 'user', content: '😀'.repeat(CHUNK / 4) }] })
    const [first] = await Array.fromAsync(openFile(sourceOf(utf16(`\uFEFF ${text}`)), source))
    expect(first).toMatchObject({ ok: true, trajectory: { segments: [{ messages: JSON.parse(text).messages }] } })
    const refusal = [expect.stringMatching(/^file: expected whole text in UTF-16, found half of a pair in it/)]
    expect(await opened(utf16('{"a": "\uD83D"}'))).toEqual(refusal)
    expect(await opened(utf16('{"a": 1}').subarray(0, -1))).toEqual(refusal)
  })
})

test('Other files of an archive are passed over, and broken ones are reported', async () => {
  const archive = zipOf([
    { name: 'README.md', content: '# Rollouts' },
    { name: 'header.json', content: '{"status": "success"}' },
    { name: 'broken.json', content: '{"token_ids": [' },
    { name: 'empty.jsonl', content: '' },
    { name: '__MACOSX/._a.jsonl', content: '\0\u0005' },
    { name: 'a.jsonl', content: `7\n${LINES}` },
  ])
  expect(await opened(archive)).toEqual([
    expect.stringMatching(/^record: broken\.json: expected JSON, found /),
    expect.stringMatching(/^record: a\.jsonl: line 1: expected a trajectory/),
    'run/a.jsonl 1',
    'run/a.jsonl 2,3',
  ])
  expect(await opened(zipOf([{ name: 'README.md', content: '# Rollouts' }]))).toEqual([
    expect.stringMatching(/^file: README\.md: expected JSON, found "#"/),
  ])
})

const DAMAGED_ZIP = 'file: expected a whole zip archive, found a damaged directory'
const ZEROS = Buffer.alloc(80 << 20)
const small = { unpackedBytes: 1 << 20 }

describe('A container that must not be opened is refused:', () => {
  test.each<[string, Uint8Array, Partial<Limits>, string | RegExp]>([
    [
      'a gzip bomb',
      gzipSync(ZEROS),
      {},
      'file: expected at most 100 times the compressed size, found more, as in a decompression bomb',
    ],
    [
      'a Zstandard bomb',
      zstdCompressSync(ZEROS),
      {},
      'file: expected at most 100 times the compressed size, found more, as in a decompression bomb',
    ],
    [
      'a zip bomb',
      zipOf([
        { name: 'a', content: ZEROS },
        { name: 'b', content: LINES },
      ]),
      {},
      'file: expected at most 100 times the compressed size, found more, as in a decompression bomb',
    ],
    [
      'more than the limit',
      gzipSync(Buffer.alloc(2 << 20)),
      small,
      'file: expected at most 1 MiB after decompression, found more',
    ],
    [
      'gzip in gzip in gzip',
      gzipSync(gzipSync(gzipSync(LINES))),
      {},
      'file: expected at most 2 containers in each other, found a gzip file in them',
    ],
    [
      'gzip with text after it',
      Buffer.concat([gzipSync(LINES), Buffer.from('more')]),
      {},
      /^file: expected whole gzip data, found /,
    ],
    [
      'gzip with another checksum',
      changed(gzipSync(LINES), -6),
      {},
      'file: expected whole gzip data, found another checksum than that of the content in it',
    ],
    [
      'zip with another checksum',
      zipOf([{ name: 'a.json', content: LINES, forged: { crc: 7 } }]),
      {},
      'file: a.json: expected a whole zip archive, found another checksum than that of "a.json"',
    ],
    [
      'zip with another size',
      zipOf([{ name: 'a.json', content: LINES, forged: { size: 7 } }]),
      {},
      'file: a.json: expected a whole zip archive, found another checksum than that of "a.json"',
    ],
    [
      'zip with a password',
      zipOf([{ name: 'a.json', content: LINES, forged: { flags: 1 } }]),
      {},
      'file: a.json: expected a zip archive without a password, found an encrypted entry',
    ],
    [
      'zip with an unknown method',
      zipOf([{ name: 'a.json', content: LINES, forged: { method: 12 } }]),
      {},
      'file: a.json: expected a zip archive with stored, deflate or Zstandard entries, found compression method 12',
    ],
    [
      'Zstandard with a window of gigabytes',
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0xa0, 0, 0, 0]),
      {},
      'file: expected a Zstandard window of at most 128 MiB, found a larger one',
    ],
    [
      'Zstandard of one segment of gigabytes',
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x7f, 1, 0, 0]),
      {},
      'file: expected a Zstandard window of at most 128 MiB, found a larger one',
    ],
    [
      'zip with an empty deflate entry and no other',
      zipOf([{ name: 'a.json', content: '', method: 'stored', forged: { method: 8 } }]),
      {},
      'file: a.json: expected a trajectory, found none in this file',
    ],
    ['zip with a damaged locator of its directory', changedLong(-40), {}, DAMAGED_ZIP],
    ['zip with a damaged long end of its directory', changedLong(-96), {}, DAMAGED_ZIP],
    [
      'tar with a size that is no number',
      tarOf([{ name: 'a', content: LINES, size: 'x' }]),
      {},
      'file: expected a whole tar archive, found a size that is no number',
    ],
    [
      'Arrow with a column of a union',
      Buffer.from(golden.streams.union, 'base64'),
      {},
      'file: expected lists, texts, numbers and objects, found a column of a union or of runs',
    ],
    [
      'Arrow with 60 lists in each other',
      Buffer.from(golden.streams.deep, 'base64'),
      {},
      'file: expected a whole Arrow file, found more fields than a table has',
    ],
    [
      'Arrow with a list of a fixed length beyond its values',
      // The number of values of the column `pair`, of which each row has two.
      replaced(Buffer.from(golden.streams.more, 'base64'), [6, 0], [5, 0]),
      {},
      'file: expected a whole Arrow file, found a list beyond its values',
    ],
    [
      'Arrow without a message',
      Buffer.from('ARROW1\0\0\xff\xff\xff\xff\0\0\0\0', 'latin1'),
      {},
      'file: expected a whole Arrow file, found no schema',
    ],
    [
      'a table with more rows than may be stored',
      Buffer.from(golden.streams.more, 'base64'),
      { records: 2 },
      'file: expected at most 2 trajectories, found more',
    ],
    [
      'a table that becomes too large',
      Buffer.from(golden.files['zstd.parquet'] ?? '', 'base64'),
      { unpackedBytes: 10 },
      'file: expected at most 10 bytes after decompression, found more',
    ],
    [
      'Parquet with a footer longer than the file',
      parquetEnd(0xffff_fff0, 'PAR1'),
      {},
      'file: expected a whole Parquet file, found a footer that is longer than the file',
    ],
    [
      'Parquet with a footer of zeros',
      parquetEnd(100, 'PAR1'),
      {},
      'file: expected a whole Parquet file, found unreadable bytes in the footer',
    ],
    [
      'Parquet with a damaged page',
      Buffer.from(golden.files['none.parquet'] ?? '', 'base64').fill(0xff, 4, 20),
      {},
      /^file: expected a whole Parquet file, found unreadable bytes in column token_ids.list.element of row group 1 \(thrift /,
    ],
    [
      'Arrow with a damaged message',
      Buffer.concat([Buffer.from('ARROW1\0\0\xff\xff\xff\xff\x08\0\0\0', 'latin1'), Buffer.alloc(8, 0xff)]),
      {},
      'file: expected a whole Arrow file, found unreadable bytes in the message at byte 9',
    ],
    [
      'Parquet with another end',
      parquetEnd(100, 'RAP1'),
      {},
      'file: expected a whole Parquet file, found another end than PAR1',
    ],
    [
      'Parquet with an encrypted footer',
      parquetEnd(100, 'PARE'),
      {},
      'file: expected a Parquet file without a key, found an encrypted one',
    ],
    [
      'a PyTorch file',
      zipOf([{ name: 'archive/data.pkl', content: 'x' }]),
      {},
      'file: expected JSON, found a PyTorch file',
    ],
  ])('%s', async (_, bytes, limits, expected) => {
    expect(await opened(bytes, 'run', limits)).toEqual([
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    ])
  })
})

test('Arrow with a batch of more than 256 MiB is refused before it is read', async () => {
  const stream = Buffer.from(golden.streams.more, 'base64')
  const batch = stream.lastIndexOf(Buffer.from([0xff, 0xff, 0xff, 0xff]), stream.length - 9)
  const body = stream.length - 8 - (batch + 8 + stream.readInt32LE(batch + 4))
  const forged = replaced(stream, [body], [300 << 20], batch)
  const bytes = { ...sourceOf(forged), size: 400 << 20 }
  const each = await Array.fromAsync(openFile(bytes, { ...source, file: 'run' }))
  expect(each.map((one) => !one.ok && one.error.message)).toEqual([
    'expected batches of at most 256 MiB, found a larger one',
  ])
})

test('A failure of reading a table is not a failure of the file', async () => {
  const table = Buffer.from(golden.files['none.parquet'] ?? '', 'base64')
  let reads = 0
  const failing = (limit: number): ByteSource => {
    reads = 0
    return {
      size: table.length,
      read: async (start, end) => {
        if (++reads > limit) throw new Error('gone')
        return table.subarray(start, end)
      },
    }
  }
  for (const limit of [1, 4]) {
    await expect(Array.fromAsync(openFile(failing(limit), source))).rejects.toThrow(/^gone$/)
    await expect(Array.fromAsync(openEachIn(failing(limit), source, { tools: memoryTools }))).rejects.toThrow(/^gone$/)
  }
})

/** Returns an archive with long fields in which a byte from the end differs. */
function changedLong(at: number): Buffer {
  return changed(zipOf([{ name: 'a.json', content: LINES }], true), at)
}

/** Returns bytes in which the first whole numbers of 64 bits with these values have others. */
function replaced(bytes: Buffer, from: readonly number[], to: readonly number[], start = 0): Buffer {
  const [before, after] = [from, to].map((numbers) => Buffer.from(new BigInt64Array(numbers.map(BigInt)).buffer))
  const at = before ? bytes.indexOf(before, start) : -1
  if (!before || !after || at < 0) throw new Error('the file has no such numbers')
  return Buffer.concat([bytes.subarray(0, at), after, bytes.subarray(at + before.length)])
}

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  const index = at < 0 ? copy.length + at : at
  copy[index] = (copy[index] ?? 0) ^ 1
  return copy
}

function parquetEnd(length: number, magic: string): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(length)
  return Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(1000), bytes, Buffer.from(magic)])
}

/** All containers, small. */
const CONTAINERS: readonly (readonly [string, Uint8Array])[] = [
  ...tables,
  ['gzip', gzipSync(LINES.repeat(20))],
  ['Zstandard', zstdCompressSync(LINES.repeat(20), { params: { [constants.ZSTD_c_checksumFlag]: 1 } })],
  [
    'zip',
    zipOf([
      { name: 'a.jsonl', content: LINES },
      { name: 'b', content: line(4), method: 'zstd' },
    ]),
  ],
  ['tar', tarOf([{ name: 'a.jsonl', content: LINES }])],
  ['events', Buffer.from(`data: ${LINES}\ndata: [DONE]\n`)],
  ['deflate in zip', zipOf([{ name: 'a', content: deflateRawSync(LINES), method: 'stored' }])],
  ['.eval', foreign('inspect-mockllm.eval')],
]

describe('A damaged container opens or is refused with a message, and never throws:', () => {
  const survives = async (bytes: Uint8Array) => {
    const limits = { ...LIMITS, unpackedBytes: 64 << 20 }
    const tools = { limits, tools: memoryTools }
    for await (const one of openFile(sourceOf(bytes), { ...source, file: 'run' }, tools))
      if (!one.ok) {
        expect(one.error.message).toMatch(/\bexpected .+, found /s)
        expect(one.error.message).not.toMatch(/ of undefined|is not a|argument|\[?Array|DataView|BigInt|out of bounds/)
      }
    await rowsOrProblems(bytes)
  }
  const rowsOrProblems = async (bytes: Uint8Array) =>
    Array.fromAsync(openEachIn(sourceOf(bytes), { ...source, file: 'run' }, { tools: memoryTools }))

  test.each(CONTAINERS)('%s, cut off at many places', async (_, bytes) => {
    const step = Math.max(1, Math.floor(bytes.length / 60))
    for (let end = 0; end < bytes.length; end += step) await survives(bytes.subarray(0, end))
  })

  test.each(CONTAINERS)('%s, with changed bytes', async (_, bytes) => {
    const random = randomNumbers(7)
    for (let round = 0; round < 60; round++) {
      const copy = Buffer.from(bytes)
      for (let left = 1 + Math.floor(random() * 6); left > 0; left--)
        copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256)
      await survives(copy)
    }
  })
})
