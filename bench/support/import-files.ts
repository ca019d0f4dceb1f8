/** Large files of the import bench, written to the disk in parts. */
import { closeSync, openSync, statSync, writeSync } from 'node:fs'

const MIB = 2 ** 20
const WRITE_AT = 4 * MIB

/** Writes parts until the file has this many bytes or the parts end. Returns the size of the file. */
function writeFile(file: string, parts: Iterable<string>, bytes = Number.POSITIVE_INFINITY): number {
  const descriptor = openSync(file, 'w')
  let waiting: string[] = []
  let length = 0
  let total = 0
  const flush = () => {
    writeSync(descriptor, waiting.join(''))
    waiting = []
    length = 0
  }
  for (const part of parts) {
    waiting.push(part)
    length += part.length
    total += part.length
    if (length >= WRITE_AT) flush()
    if (total >= bytes) break
  }
  flush()
  closeSync(descriptor)
  return statSync(file).size
}

/** Writes `[1,1,1,…]`: JSON with many values, none of which is a record. */
export const ones = (file: string): number =>
  writeFile(
    file,
    (function* () {
      yield '[1'
      for (;;) yield ',1'.repeat(MIB)
    })(),
    126 * MIB,
  )

interface RolloutOptions {
  readonly tokens?: number
  /** True: the metadata make all tokens one response. False: the loss mask makes a segment of every 384 and 128 tokens. */
  readonly isOneSegment?: boolean
}

/** Writes a list of `count` rollouts with 4,096 tokens each, as slime writes samples: about 94 MB for 1,100. */
export const rollouts = (file: string, count: number, options: RolloutOptions = {}): number =>
  writeFile(
    file,
    (function* () {
      yield '['
      for (let sample = 0; sample < count; sample++) yield `${sample === 0 ? '' : ','}\n${rollout(sample, options)}`
      yield ']'
    })(),
  )

function rollout(sample: number, { tokens = 4096, isOneSegment = false }: RolloutOptions): string {
  const mask = Array.from({ length: tokens }, (_, index) => (index % 512 < 384 ? 1 : 0))
  return JSON.stringify({
    tokens: mask.map((_, index) => (index * 7919 + sample * 31) % 151_643),
    response_length: tokens,
    loss_mask: mask,
    rollout_log_probs: mask.map((bit, index) => (bit ? -((index * 48_271 + sample) % 65_537) / 7919.7 : 0)),
    status: 'completed',
    index: sample,
    reward: sample % 2,
    ...(isOneSegment && { metadata: { rollscope: { segment_info: [[true, tokens]] } } }),
  })
}
