/** Reads files of lib/formats/golden/foreign in tests, as the opener finds their records. */
import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import type { RecordSource } from '../format.ts'

const fileOf = (name: string): string => `lib/formats/golden/foreign/${name}`

/** Returns the records of a file: a JSON value, JSON lines, or the data of server-sent events. */
export function foreignRecords(name: string): readonly unknown[] {
  const text = readFileSync(fileOf(name), 'utf8')
  if (!/\.(jsonl|sse)$/.test(name)) return [JSON.parse(text)]
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/^data: /, ''))
    .filter((line) => line !== '' && line !== '[DONE]')
    .map((line) => JSON.parse(line) as unknown)
}

const DIRECTORY = 0x06054b50
const ZSTD = 93

/** Returns the entries of an archive of Inspect, which are JSON compressed by Zstandard, by their names. */
export function archiveEntries(name: string): readonly (readonly [name: string, value: unknown])[] {
  const bytes = readFileSync(fileOf(name))
  let end = bytes.length - 22
  while (bytes.readUInt32LE(end) !== DIRECTORY) end--
  const entries: (readonly [string, unknown])[] = []
  let at = bytes.readUInt32LE(end + 16)
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [length, nameLength, start] = [
      bytes.readUInt32LE(at + 20),
      bytes.readUInt16LE(at + 28),
      bytes.readUInt32LE(at + 42),
    ]
    if (bytes.readUInt16LE(at + 10) !== ZSTD) throw new Error('the entry has another compression')
    const from = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28)
    const text = zstdDecompressSync(bytes.subarray(from, from + length)).toString()
    entries.push([bytes.toString('utf8', at + 46, at + 46 + nameLength), JSON.parse(text)])
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return entries
}

/** Returns a source that numbers the trajectories of a file. */
export function fileSource(file: string): RecordSource {
  let count = 0
  return { file, now: '2026-01-01T00:00:00.000Z', newId: () => `${file}#${++count}` }
}
