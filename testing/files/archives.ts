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

/** Returns a zip archive. With `isLong` its sizes and positions are in the fields for more than 4 GiB. */
export function zipOf(files: readonly ZipFile[], isLong = false): Buffer {
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
    directory.push(entry, Buffer.from(name), ...(isLong ? [longField(entry)] : []))
    at += header.length + Buffer.byteLength(name) + packed.length
  }
  const size = Buffer.concat(directory).length
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt32LE(isLong ? LONG : size, 12)
  end.writeUInt32LE(isLong ? LONG : at, 16)
  return Buffer.concat([...parts, ...directory, ...(isLong ? longEnd(size, at) : []), end])
}

/** Value of a field whose content is in a longer one. */
const LONG = 0xffff_ffff

/** Moves size, compressed size and position of an entry to an extra field after another one. */
function longField(entry: Buffer): Buffer {
  const field = Buffer.alloc(6 + 28)
  field.writeUInt16LE(0x7875, 0)
  field.writeUInt16LE(2, 2)
  field.writeUInt16LE(1, 6)
  field.writeUInt16LE(24, 8)
  // The position of the first entry, which is 0, stays where it is.
  for (const [index, position] of (entry.readUInt32LE(42) === 0 ? [24, 20] : [24, 20, 42]).entries()) {
    field.writeBigUInt64LE(BigInt(entry.readUInt32LE(position)), 10 + index * 8)
    entry.writeUInt32LE(LONG, position)
  }
  entry.writeUInt16LE(field.length, 30)
  return field
}

function longEnd(size: number, start: number): readonly Buffer[] {
  const [end, locator] = [Buffer.alloc(56), Buffer.alloc(20)]
  end.writeUInt32LE(0x06064b50, 0)
  end.writeBigUInt64LE(BigInt(size), 40)
  end.writeBigUInt64LE(BigInt(start), 48)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(start + size), 8)
  return [end, locator]
}

/** Returns a tar archive. A name longer than 100 bytes is written as GNU tar does. */
export function tarOf(files: readonly TarFile[]): Buffer {
  const blocks = files.flatMap((file) => [
    ...(file.name.length > 100 ? tarEntry({ name: '././@LongLink', content: `${file.name}\0`, type: 'L' }) : []),
    ...tarEntry(file),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

interface TarFile {
  readonly name: string
  readonly content: string
  readonly type?: string
  /** The folder, in the field of its own that ustar has for it. */
  readonly prefix?: string
  /** Overwrites the size, for forged archives. */
  readonly size?: string
}

function tarEntry({ name, content, type = '0', prefix = '', size }: TarFile): readonly Buffer[] {
  const header = Buffer.alloc(512)
  const bytes = Buffer.from(content)
  header.write(name.slice(0, 100), 0)
  header.write(size ?? bytes.length.toString(8).padStart(11, '0'), 124)
  header.write(type, 156)
  header.write('ustar', 257)
  header.write(prefix, 345)
  return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
}
