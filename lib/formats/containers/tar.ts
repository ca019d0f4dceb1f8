/** Reads tar archives: regular files, with the long names of GNU and pax. */
import { type ByteSource, byteRange, ContainerError, copyOf, type ReadContainer } from './container.ts'

const BLOCK = 512
const LONGEST_NAME = 1 << 16

/** Yields the regular files of an archive. Links and devices are passed over. */
export const readTar: ReadContainer = async function* ({ bytes }) {
  let longName: string | undefined
  for (let at = 0; at + BLOCK <= bytes.size; ) {
    const header = copyOf(await bytes.read(at, at + BLOCK))
    if (header.every((byte) => byte === 0)) return
    const size = sizeIn(header)
    const start = at + BLOCK
    const end = start + size
    if (textIn(header, 257, 262) !== 'ustar') throw broken(`no header (byte ${at + 1})`)
    if (end > bytes.size) throw broken('the end before that of a file')
    const type = textIn(header, 156, 157)
    if (type === 'L' || type === 'x') longName = await nameIn(bytes, start, Math.min(end, start + LONGEST_NAME), type)
    else {
      const prefix = textIn(header, 345, 500)
      const name = longName ?? (prefix === '' ? textIn(header, 0, 100) : `${prefix}/${textIn(header, 0, 100)}`)
      longName = undefined
      if (type === '0' || type === '') yield { kind: 'file', name, bytes: byteRange(bytes, start, end) }
    }
    at = start + Math.ceil(size / BLOCK) * BLOCK
  }
}

/** Returns the size, which is an octal number. One above 8 GiB is binary: such an archive is refused. */
function sizeIn(header: Uint8Array): number {
  const size = Number.parseInt(textIn(header, 124, 136).trim() || '0', 8)
  if (!Number.isSafeInteger(size)) throw broken('a size that is no number')
  return size
}

async function nameIn(bytes: ByteSource, start: number, end: number, type: 'L' | 'x'): Promise<string | undefined> {
  const text = new TextDecoder().decode(await bytes.read(start, end))
  if (type === 'L') return text.replace(/\0.*$/s, '')
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1]
}

/** Returns the text up to the first null byte. */
const textIn = (header: Uint8Array, start: number, end: number): string =>
  new TextDecoder().decode(header.subarray(start, end)).replace(/\0.*$/s, '')

const broken = (found: string): ContainerError =>
  new ContainerError('a whole tar archive', found, 'The archive is cut off or damaged: copy it again.')
