/** Builds archives for tests, also wrong ones. */
import { crc32, deflateRawSync, zstdCompressSync } from 'node:zlib'

interface ZipFile {
  readonly name: string
  readonly content: Uint8Array | string
  readonly method?: 'stored' | 'deflate' | 'zstd'
  /** Overwrites what the directory says, for forged archives. */
  readonly forged?: { readonly size?: number; readonly crc?: number; readonly method?: number; readonly flags?: number }
}

const METHODS = { stored: 0, deflate: 8, zstd: 93 } as const

/** Returns a zip archive. */
export function zipOf(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content, method = 'deflate', forged = {} } of files) {
    const plain = Buffer.from(content)
    const packed = { stored: plain, deflate: deflateRawSync(plain), zstd: zstdCompressSync(plain) }[method]
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50, 0)
    header.writeUInt16LE(Buffer.byteLength(name), 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(forged.flags ?? 0, 8)
    entry.writeUInt16LE(forged.method ?? METHODS[method], 10)
    entry.writeUInt32LE(forged.crc ?? crc32(plain), 16)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt32LE(forged.size ?? plain.length, 24)
    entry.writeUInt16LE(Buffer.byteLength(name), 28)
    entry.writeUInt32LE(at, 42)
    parts.push(header, Buffer.from(name), packed)
    directory.push(entry, Buffer.from(name))
    at += header.length + Buffer.byteLength(name) + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, ...directory, end])
}

/** Returns a tar archive. A name longer than 100 bytes is written as GNU tar does. */
export function tarOf(
  files: readonly { readonly name: string; readonly content: string; readonly type?: string }[],
): Buffer {
  const blocks = files.flatMap(({ name, content, type = '0' }) => [
    ...(name.length > 100 ? tarEntry('././@LongLink', `${name}\0`, 'L') : []),
    ...tarEntry(name.slice(0, 100), content, type),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

function tarEntry(name: string, content: string, type: string): readonly Buffer[] {
  const header = Buffer.alloc(512)
  const bytes = Buffer.from(content)
  header.write(name, 0)
  header.write(bytes.length.toString(8).padStart(11, '0'), 124)
  header.write(type, 156)
  header.write('ustar', 257)
  return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
}
