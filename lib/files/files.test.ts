/** Tests what only Node can do for containers: SQLite, and decompressed bytes on the disk. */
import { openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { memoryTools, type UnpackTools } from '#lib/formats/containers/container.ts'
import { partsOf } from '#lib/formats/reading/parts.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { descriptorBytes, keepInFolder } from './descriptor-bytes.ts'
import { sqliteTablesIn } from './sqlite-tables.ts'

const folder = folderOfFile()
const tools: UnpackTools = { keep: keepInFolder(folder), sqlite: sqliteTablesIn(folder) }

const bytesOf = (file: string) => descriptorBytes(openSync(file, 'r'), statSync(file).size)
const inBytes = (bytes: Uint8Array) => ({
  size: bytes.length,
  read: async (start: number, end: number) => bytes.subarray(start, end),
})

/** Returns the rows of each table, or the problem. */
async function tablesOf(bytes: ReturnType<typeof inBytes>): Promise<Record<string, unknown>> {
  const tables: Record<string, unknown> = {}
  for await (const part of partsOf(bytes, 'a.sqlite', { limits: LIMITS, tools })) {
    if (part.kind === 'failed') tables[part.entry ?? 'problem'] = part.problem.message
    else if (part.kind === 'rows') tables[part.entry ?? ''] = await Array.fromAsync(part.rows).catch(String)
  }
  return tables
}

test('An SQLite capture of tinker-cookbook has its tables with JSON texts as lists, and leaves no file', async () => {
  const tables = await tablesOf(bytesOf('lib/formats/golden/foreign/tinker-capture.sqlite'))
  expect(Object.keys(tables)).toEqual(['seq', 'wire_rows', 'annotations'])
  expect(tables.wire_rows).toHaveLength(8)
  expect(tables.wire_rows).toMatchObject([
    {
      ok: true,
      value: {
        cursor: 1,
        run_id: 'calc-run',
        prompt_tokens: expect.arrayContaining([437]),
        metadata: { temperature: 1 },
      },
    },
    ...Array(7).fill({ ok: true }),
  ])
  expect(readdirSync(folder)).toEqual([])
})

test('An SQLite database is read without its views, and whole numbers that JavaScript cannot represent fail with their column', async () => {
  const file = path.join(folder, 'odd.sqlite')
  const database = new DatabaseSync(file)
  database.exec(`CREATE TABLE "a ""b" (id INTEGER, text TEXT, bytes BLOB); CREATE VIEW v AS SELECT 1 AS id;
    INSERT INTO "a ""b" VALUES (1, '[1, NaN', x'00ff'), (9007199254740993, '', NULL)`)
  database.close()
  expect(await tablesOf(bytesOf(file))).toEqual({
    'a "b': [
      { ok: true, value: { id: 1, text: '[1, NaN', bytes: [0, 255] } },
      { ok: false, error: { path: 'id', expected: 'a whole number of at most 2^53', found: '9007199254740993' } },
    ],
  })
  rmSync(file)
})

test('An SQLite database is read without virtual columns, whose expressions make a small file large', async () => {
  const file = path.join(folder, 'generated.sqlite')
  const database = new DatabaseSync(file)
  database.exec(`CREATE TABLE t ("a ""b" TEXT, virtual AS (hex(zeroblob(280000000))), stored AS ("a ""b" || 2) STORED);
    INSERT INTO t VALUES ('1')`)
  database.close()
  expect(await tablesOf(bytesOf(file))).toEqual({ t: [{ ok: true, value: { 'a "b': '1', stored: '12' } }] })
  rmSync(file)
})

test('An SQLite row with a text that JavaScript cannot represent fails alone', async () => {
  const file = path.join(folder, 'long.sqlite')
  const database = new DatabaseSync(file)
  database.exec("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('1')")
  // Node returns this for a text of more than 512 MiB, which would take seconds to write.
  const { iterate } = StatementSync.prototype
  const spy = vi.spyOn(StatementSync.prototype, 'iterate').mockImplementation(function (this: StatementSync) {
    const rows: ReturnType<typeof iterate> = Reflect.apply(iterate, this, [])
    const results = [undefined, rows.next(), rows.next()]
    return Object.assign(rows, { next: () => results.shift() })
  })
  database.close()
  expect(await tablesOf(bytesOf(file))).toEqual({
    t: [
      { ok: false, error: { path: '', expected: 'texts of at most 512 MiB', found: 'a longer one' } },
      { ok: true, value: { a: '1' } },
    ],
  })
  spy.mockRestore()
  rmSync(file)
})

test('An SQLite database that is cut off or damaged is refused with a message, and never throws', async () => {
  const whole = readFileSync('lib/formats/golden/foreign/tinker-capture.sqlite')
  for (const length of [20, 100, 1000, 4096, 9000, 40_000]) {
    const tables = await tablesOf(inBytes(whole.subarray(0, length)))
    expect(JSON.stringify(tables)).toMatch(/expected a whole SQLite database|"value"|\{\}/)
  }
  for (let at = 0; at < whole.length; at += 997) {
    const copy = Buffer.from(whole)
    copy.fill(255, at, at + 16)
    await tablesOf(inBytes(copy))
  }
  expect(readdirSync(folder)).toEqual([])
})

test('An SQLite database whose tables cannot be listed is closed', async () => {
  const close = vi.spyOn(DatabaseSync.prototype, 'close')
  await expect(sqliteTablesIn(folder)(inBytes(Buffer.alloc(4096, 'x')))).rejects.toThrow('not a database')
  expect(close).toHaveBeenCalledOnce()
  close.mockRestore()
})

test('Decompressed bytes are kept in a file without a name, and read again', async () => {
  const text = 'x'.repeat(3_000_000)
  for await (const part of partsOf(inBytes(gzipSync(text)), 'a.gz', { limits: LIMITS, tools })) {
    if (part.kind !== 'json') throw new Error('the content is not a file')
    expect(readdirSync(folder)).toEqual([])
    expect(part.bytes.size).toBe(text.length)
    expect(Buffer.from(await part.bytes.read(2_999_990, 3_000_000)).toString()).toBe('x'.repeat(10))
  }
})

test('A chunk that fails closes the file that kept the others', async () => {
  const failing = (async function* () {
    yield Buffer.from('a')
    throw new Error('the source failed')
  })()
  await expect(keepInFolder(folder)(failing)).rejects.toThrow('the source failed')
  expect(await memoryTools.keep((async function* () {})())).toMatchObject({ size: 0 })
})
